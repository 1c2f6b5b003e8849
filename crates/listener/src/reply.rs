//! The answers of a service, and the answers to requests that never reach it.

use actix_http::body::BoxBody;
use actix_http::{Response, StatusCode};
use bytes::BytesMut;

use crate::answer_headers::{PRIVATE_FOR_90_SECONDS_LINE, PRIVATE_NO_STORE_LINE};

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

/// How a redirect without a body begins, and how long its answer may be kept.
#[derive(Debug, PartialEq, Eq)]
pub struct RedirectHead {
    /// The status line, and the length of the body.
    start: &'static str,
    /// A whole header line.
    cache_control: &'static str,
}

impl RedirectHead {
    /// 301
    pub const MOVED_PERMANENTLY: &'static Self = &Self {
        start: "HTTP/1.1 301 Moved Permanently\r\ncontent-length: 0\r\n",
        cache_control: PRIVATE_FOR_90_SECONDS_LINE,
    };

    /// 302
    pub const FOUND: &'static Self =
        &Self { start: "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n", cache_control: PRIVATE_NO_STORE_LINE };

    /// 307
    pub const TEMPORARY_REDIRECT: &'static Self = &Self {
        start: "HTTP/1.1 307 Temporary Redirect\r\ncontent-length: 0\r\n",
        cache_control: PRIVATE_NO_STORE_LINE,
    };

    /// 308
    pub const PERMANENT_REDIRECT: &'static Self = &Self {
        start: "HTTP/1.1 308 Permanent Redirect\r\ncontent-length: 0\r\n",
        cache_control: PRIVATE_FOR_90_SECONDS_LINE,
    };
}

/// A redirect without a body to an HTTP/1.1 request, written directly. Building and encoding a response with its
/// header table takes several times as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortRedirect {
    head: &'static RedirectHead,
    start: &'static str,
    length: u8,
    rest: [u8; MAX_BYTES],
    closes: bool,
}

impl ShortRedirect {
    /// A redirect to the URL made of `start` and `rest`. `None` if `rest` is too long, or has characters that a header cannot
    /// hold.
    #[must_use]
    pub fn new(head: &'static RedirectHead, start: &'static str, rest: &[u8]) -> Option<Self> {
        let mut inline = [0; MAX_BYTES];
        inline.get_mut(..rest.len())?.copy_from_slice(rest);
        let is_clean = rest.iter().all(|byte| matches!(byte, 0x21..=0x7e));
        let length = u8::try_from(rest.len()).ok()?;
        is_clean.then_some(Self { head, start, length, rest: inline, closes: false })
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
        let RedirectHead { start: head, cache_control } = self.head;
        output.reserve(256 + head.len() + cache_control.len() + self.start.len() + rest.len());
        output.extend_from_slice(head.as_bytes());
        if closes {
            output.extend_from_slice(b"connection: close\r\n");
        }
        output.extend_from_slice(cache_control.as_bytes());
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
            let redirect = ShortRedirect::new(RedirectHead::FOUND, "https://", &[b'a', byte]);
            assert_eq!(redirect.is_some(), (0x21..=0x7e).contains(&byte), "{byte:#x}");
        }
        assert!(ShortRedirect::new(RedirectHead::FOUND, "", &[b'a'; MAX_BYTES]).is_some());
        assert!(ShortRedirect::new(RedirectHead::FOUND, "", &[b'a'; MAX_BYTES + 1]).is_none());
    }

    #[test]
    fn d132_only_permanent_redirects_may_be_kept() {
        for (head, status, cache_control) in [
            (RedirectHead::MOVED_PERMANENTLY, StatusCode::MOVED_PERMANENTLY, "private, max-age=90"),
            (RedirectHead::FOUND, StatusCode::FOUND, "private, no-store"),
            (RedirectHead::TEMPORARY_REDIRECT, StatusCode::TEMPORARY_REDIRECT, "private, no-store"),
            (RedirectHead::PERMANENT_REDIRECT, StatusCode::PERMANENT_REDIRECT, "private, max-age=90"),
        ] {
            let mut output = BytesMut::new();
            ShortRedirect::new(head, "https://", b"a.example").unwrap().write(&mut output, false);
            let expected = format!(
                "HTTP/1.1 {status}\r\ncontent-length: 0\r\ncache-control: {cache_control}\r\nlocation: https://a.example\r\n"
            );
            assert_eq!(output, expected.as_bytes());
        }
    }
}
