//! How a use case fails.

use signpost_domain::{ErrorCode, Refusal, Rejection, Violations};

use crate::ports::{RandomnessUnavailable, RememberedAnswer, StoreError};

/// Why a use case did not do what it was asked. What the caller may know stands in the first variants, down to
/// [`Self::AccountGone`]; the others are for the log.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Fields of the request break their rules: all of them.
    #[error("invalid request: {0}")]
    Invalid(Violations),
    /// The operation as a whole is refused.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The request was carried out before (D12): this was answered, and nothing was changed now.
    #[error("the request was answered before")]
    AnsweredBefore(Box<RememberedAnswer>),
    /// The account has as many searches in flight on this node as it may (R46).
    #[error("too many searches of the account at once")]
    TooManySearches,
    /// What is remembered of the account's answers leaves no room for this one, for so many seconds (D12). Nothing was
    /// changed.
    #[error("no room to remember the answer")]
    NoRoomForAnswer {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The account has begun an export less than a minute ago, or has one running (D66).
    #[error("too many exports of the account")]
    TooManyExports {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    /// There was no turn for a question about clicks in time, since so many others are asked on this node (D51).
    #[error("too many questions about clicks at once")]
    AnalyticsBusy,
    /// The account was deleted after the request was let in: the key is none any more.
    #[error("the account was deleted meanwhile")]
    AccountGone,
    /// The click store gave no answer; all else works (D51).
    #[error("the click store gave no answer")]
    AnalyticsUnavailable(#[source] StoreError),
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There were no random bytes for a key or a slug.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
    /// No free slug was found, however often one was drawn. It takes a full address space or a broken source of
    /// randomness.
    #[error("no free slug after {attempts} draws")]
    NoFreeSlug {
        /// How many were tried.
        attempts: u32,
    },
    /// The store, or this program, has not said what became of an item.
    #[error("an item of a batch has no outcome")]
    NoOutcome,
}

impl AppError {
    /// The contract's code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::InvalidRequest,
            Self::Refused(refusal) => refusal.code(),
            Self::TooManySearches | Self::NoRoomForAnswer { .. } | Self::TooManyExports { .. } => {
                ErrorCode::RateLimitExceeded
            }
            Self::AnalyticsBusy | Self::AnalyticsUnavailable(_) => ErrorCode::AnalyticsTemporarilyUnavailable,
            Self::AccountGone => ErrorCode::InvalidApiKey,
            // It is not answered with a code but with the answer.
            Self::AnsweredBefore(_)
            | Self::Store(_)
            | Self::Randomness(_)
            | Self::NoFreeSlug { .. }
            | Self::NoOutcome => ErrorCode::InternalError,
        }
    }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Rejection> for AppError {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Invalid(violations) => Self::Invalid(violations),
            Rejection::Refused(refusal) => Self::Refused(refusal),
        }
    }
}
