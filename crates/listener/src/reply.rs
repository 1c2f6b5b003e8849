//! What a service answers with.

use actix_http::Response;
use bytes::BytesMut;

/// What a service answers with.
pub enum Reply<B> {
    /// A response.
    Response(Response<B>),
    /// A redirect that needs no memory of its own.
    Redirect(ShortRedirect),
}

impl<B> From<Response<B>> for Reply<B> {
    fn from(response: Response<B>) -> Self {
        Self::Response(response)
    }
}

/// The most bytes that the second part of a short location has.
const MOST_BYTES: usize = 96;

/// A 302 without a body to a request of HTTP/1.1, written as it is. To make a response with its table of headers, and to
/// encode that, takes several times as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortRedirect {
    headers: &'static str,
    start: &'static str,
    length: u8,
    rest: [u8; MOST_BYTES],
    closes: bool,
}

impl ShortRedirect {
    /// A redirect to the URL made of `start` and `rest`. `headers` are further header lines, each with its CR LF. `None` if `rest`
    /// is too long, or has what a header cannot have.
    #[must_use]
    pub fn new(headers: &'static str, start: &'static str, rest: &[u8]) -> Option<Self> {
        let mut inline = [0; MOST_BYTES];
        inline.get_mut(..rest.len())?.copy_from_slice(rest);
        let is_clean = rest.iter().all(|byte| matches!(byte, 0x21..=0x7e));
        let length = u8::try_from(rest.len()).ok()?;
        is_clean.then_some(Self { headers, start, length, rest: inline, closes: false })
    }

    /// Whether the connection ends with it.
    #[must_use]
    pub const fn closing(self, closes: bool) -> Self {
        Self { closes, ..self }
    }

    /// Where it leads.
    #[must_use]
    pub fn location(&self) -> String {
        let rest = self.rest.get(..usize::from(self.length)).unwrap_or_default();
        format!("{}{}", self.start, String::from_utf8_lossy(rest))
    }

    pub(crate) const fn closes(&self) -> bool {
        self.closes
    }

    /// Writes all of it but the date and the empty line.
    pub(crate) fn write(&self, output: &mut BytesMut, closes: bool) {
        let rest = self.rest.get(..usize::from(self.length)).unwrap_or_default();
        output.reserve(256 + self.headers.len() + self.start.len() + rest.len());
        output.extend_from_slice(b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\n");
        if closes {
            output.extend_from_slice(b"connection: close\r\n");
        }
        output.extend_from_slice(self.headers.as_bytes());
        output.extend_from_slice(b"location: ");
        output.extend_from_slice(self.start.as_bytes());
        output.extend_from_slice(rest);
        output.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_nothing_but_visible_ascii_gets_into_a_location() {
        for byte in 0..=u8::MAX {
            let redirect = ShortRedirect::new("", "https://", &[b'a', byte]);
            assert_eq!(redirect.is_some(), (0x21..=0x7e).contains(&byte), "{byte:#x}");
        }
        assert!(ShortRedirect::new("", "", &[b'a'; MOST_BYTES]).is_some());
        assert!(ShortRedirect::new("", "", &[b'a'; MOST_BYTES + 1]).is_none());
    }
}
