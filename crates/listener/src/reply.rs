//! The answers of a service, and the answers to requests that never reach it.

use actix_http::body::BoxBody;
use actix_http::{Response, StatusCode};
use bytes::BytesMut;

/// The answer of a service.
pub enum Reply<B> {
    /// A response.
    Response(Response<B>),
    /// A redirect that allocates no memory.
    Redirect(ShortRedirect),
}

impl<B> From<Response<B>> for Reply<B> {
    fn from(response: Response<B>) -> Self {
        Self::Response(response)
    }
}

/// Maximum length of the second part of a short location.
const MAX_BYTES: usize = 96;

/// A 302 without a body to an HTTP/1.1 request, written directly. Building and encoding a response with its
/// header table takes several times as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortRedirect {
    headers: &'static str,
    start: &'static str,
    length: u8,
    rest: [u8; MAX_BYTES],
    closes: bool,
}

impl ShortRedirect {
    /// A redirect to the URL made of `start` and `rest`. `headers` are additional header lines, each with its
    /// CR LF. `None` if `rest` is too long, or has characters that a header cannot hold.
    #[must_use]
    pub fn new(headers: &'static str, start: &'static str, rest: &[u8]) -> Option<Self> {
        let mut inline = [0; MAX_BYTES];
        inline.get_mut(..rest.len())?.copy_from_slice(rest);
        let is_clean = rest.iter().all(|byte| matches!(byte, 0x21..=0x7e));
        let length = u8::try_from(rest.len()).ok()?;
        is_clean.then_some(Self { headers, start, length, rest: inline, closes: false })
    }

    /// Sets whether the connection closes after it.
    #[must_use]
    pub const fn closing(self, closes: bool) -> Self {
        Self { closes, ..self }
    }

    /// The target URL.
    #[must_use]
    pub fn location(&self) -> String {
        let rest = self.rest.get(..usize::from(self.length)).unwrap_or_default();
        format!("{}{}", self.start, String::from_utf8_lossy(rest))
    }

    pub(crate) const fn closes(&self) -> bool {
        self.closes
    }

    /// Writes everything except the date and the empty line.
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

/// Why a request does not reach the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListenerRefusal {
    /// The request violates HTTP/1.1 as of RFC 9112.
    NotHttp,
    /// The head is larger than [`MAX_HEAD_BYTES`](crate::MAX_HEAD_BYTES), or has more than 96 headers.
    HeadTooLarge,
    /// The head began, but did not end in time.
    HeadTooSlow,
    /// There are too many connections.
    Overloaded,
    /// The certificate of the connection is not for the requested host (D181).
    Misdirected,
}

impl ListenerRefusal {
    /// The status of the answer.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::NotHttp => StatusCode::BAD_REQUEST,
            Self::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::HeadTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
        }
    }

    /// The label in metrics.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::NotHttp => "not_http",
            Self::HeadTooLarge => "head_too_large",
            Self::HeadTooSlow => "head_too_slow",
            Self::Overloaded => "overloaded",
            Self::Misdirected => "misdirected",
        }
    }
}

/// Builds the answers to refused requests. The connection closes after each.
pub trait ListenerRefusals: Send + Sync + 'static {
    /// Builds the answer.
    fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody>;

    /// Builds the answer on a connection whose client named this host in its TLS handshake. The host matters only to listeners
    /// with several services.
    fn answer_at(&self, refusal: ListenerRefusal, _server_name: Option<&str>) -> Response<BoxBody> {
        self.answer(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_location_accepts_only_visible_ascii() {
        for byte in 0..=u8::MAX {
            let redirect = ShortRedirect::new("", "https://", &[b'a', byte]);
            assert_eq!(redirect.is_some(), (0x21..=0x7e).contains(&byte), "{byte:#x}");
        }
        assert!(ShortRedirect::new("", "", &[b'a'; MAX_BYTES]).is_some());
        assert!(ShortRedirect::new("", "", &[b'a'; MAX_BYTES + 1]).is_none());
    }
}
