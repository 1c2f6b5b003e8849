//! What a visit comes to.

use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;

/// What a visit comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The visitor is sent on, to this `Location` (D53).
    Redirected(HeaderValue),
    /// The visitor is shown a landing page, which is this HTML.
    Shown(Bytes),
    /// Nothing is there, for whatever reason (D54).
    NotFound,
    /// The method is neither GET nor HEAD (D53).
    MethodNotAllowed,
    /// Too many misses from this address; the minute ends in so many seconds (D54).
    Throttled {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The store broke, so that nobody knows what is there (D58).
    Unavailable,
    /// A mistake of ours.
    Failed,
}

impl Outcome {
    /// The value of the metric's label.
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Redirected(_) => "redirected",
            Self::Shown(_) => "shown",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Throttled { .. } => "throttled",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}
