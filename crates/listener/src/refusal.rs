//! What is answered to a request that never reaches the service.

use actix_http::Response;
use actix_http::body::BoxBody;

/// Why a request does not reach the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It is not HTTP/1.1 as RFC 9112 defines it.
    NotHttp,
    /// Its head is larger than [`MOST_HEAD_BYTES`](crate::MOST_HEAD_BYTES), or has more than 96 headers.
    HeadTooLarge,
    /// Its head began, and did not end in time.
    HeadTooSlow,
    /// There are too many connections.
    Overloaded,
}

impl Refusal {
    /// Its name in metrics.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::NotHttp => "not_http",
            Self::HeadTooLarge => "head_too_large",
            Self::HeadTooSlow => "head_too_slow",
            Self::Overloaded => "overloaded",
        }
    }
}

/// Makes the answers to refused requests. The connection closes after each of them.
pub trait Refusals: Send + Sync + 'static {
    /// The answer.
    fn answer(&self, refusal: Refusal) -> Response<BoxBody>;
}
