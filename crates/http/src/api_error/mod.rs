//! The errors of the API: for each, its code, status, sentence and details, and the cause for the log.
//!
//! This module is independent of responses. `error_response` writes an error as one.

mod detail;
mod message;
mod status;

use std::fmt;

use actix_web::ResponseError;
use actix_web::http::StatusCode;
use signpost_app::admission::Reason;
use signpost_app::{AppError, with_causes};
use signpost_domain::{ErrorCode, Violations};

pub(crate) use detail::{BODY, Detail, sentence, sentence_schema, violation_code_schema};
pub(crate) use message::{BROKEN, UNWRITABLE};
pub(crate) use status::status_of;

/// Why a request failed. Handlers and extractors return it. The outermost middleware writes the envelope, which
/// carries the request id.
///
/// Callers see [`Self::code`], [`Self::message`] and [`Self::details`]. [`Self::cause`] goes to the log only; no method
/// prints both.
pub(crate) enum ApiError {
    /// The request was not admitted.
    NotAdmitted(Reason),
    /// The listener could not parse the request; the sentence says why.
    Unreadable(&'static str),
    /// The certificate of the connection is not for the requested host (D181).
    Misdirected,
    /// The listener has reached its limit of connections.
    Overloaded,
    /// No endpoint has this path.
    NoSuchPath,
    /// The path has endpoints, but none with this method.
    MethodNotAllowed {
        /// The path's methods, as the header `Allow` lists them.
        allow: String,
    },
    /// The headers announce a body that is not plain UTF-8 JSON; the sentence says what to send.
    UnsupportedMediaType(&'static str),
    /// The body exceeds the size limit (D10).
    PayloadTooLarge,
    /// Fields or parameters break their rules; all violations.
    Invalid(Violations),
    /// The use case failed.
    App(AppError),
    /// A fault of the service; the text goes to the log only.
    Internal(String),
}

impl ApiError {
    /// The contract's code.
    pub(crate) const fn code(&self) -> ErrorCode {
        match self {
            Self::NotAdmitted(reason) => reason.code(),
            Self::Unreadable(_)
            | Self::Misdirected
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::Invalid(_) => ErrorCode::InvalidRequest,
            Self::UnsupportedMediaType(_) => ErrorCode::UnsupportedMediaType,
            Self::PayloadTooLarge => ErrorCode::PayloadTooLarge,
            Self::App(error) => error.code(),
            Self::Overloaded | Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// The entries of `details`, if single fields are at fault.
    pub(crate) fn details(&self) -> Option<Vec<Detail>> {
        match self {
            Self::Invalid(violations) | Self::App(AppError::Invalid(violations)) => {
                Detail::of_violations(violations, BODY)
            }
            Self::App(AppError::Refused(refusal)) => Detail::of_refusal(refusal),
            Self::NotAdmitted(_)
            | Self::Unreadable(_)
            | Self::Misdirected
            | Self::Overloaded
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::App(
                AppError::AnsweredBefore(_)
                | AppError::TooManySearches
                | AppError::NoRoomForAnswer { .. }
                | AppError::TooManyExports { .. }
                | AppError::AnalyticsBusy
                | AppError::AnalyticsUnavailable(_)
                | AppError::AccountGone
                | AppError::PasswordsBusy
                | AppError::HashingFailed(_)
                | AppError::Store(_)
                | AppError::Randomness(_)
                | AppError::NoFreeSlug { .. }
                | AppError::NoOutcome,
            )
            | Self::Internal(_) => None,
        }
    }

    /// The cause of a fault of the service, for the log; `None` for errors of the caller.
    pub(crate) fn cause(&self) -> Option<String> {
        match self {
            Self::NotAdmitted(Reason::Store(error)) => Some(with_causes(error)),
            Self::App(
                // The outermost middleware replays this instead.
                error @ (AppError::AnsweredBefore(_)
                | AppError::AnalyticsUnavailable(_)
                | AppError::HashingFailed(_)
                | AppError::Store(_)
                | AppError::Randomness(_)
                | AppError::NoFreeSlug { .. }
                | AppError::NoOutcome),
            ) => Some(with_causes(error)),
            Self::Internal(cause) => Some(cause.clone()),
            Self::NotAdmitted(
                Reason::AddressThrottled { .. }
                | Reason::InvalidKey
                | Reason::Suspended
                | Reason::NoApiAccess
                | Reason::TooManyInFlight
                | Reason::Exhausted { .. },
            )
            | Self::Unreadable(_)
            | Self::Misdirected
            | Self::Overloaded
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::Invalid(_)
            | Self::App(
                AppError::Invalid(_)
                | AppError::Refused(_)
                | AppError::TooManySearches
                | AppError::NoRoomForAnswer { .. }
                | AppError::TooManyExports { .. }
                | AppError::AnalyticsBusy
                | AppError::PasswordsBusy
                | AppError::AccountGone,
            ) => None,
        }
    }
}

/// Prints the code alone, so that a stray log line cannot leak the cause.
impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code().as_str())
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiError({self})")
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status()
    }
}

impl From<AppError> for ApiError {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<Violations> for ApiError {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}
