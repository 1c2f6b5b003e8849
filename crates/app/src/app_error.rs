//! The errors of use cases.

use signpost_domain::{
    AccountId, ApiKeyId, Email, ErrorCode, PlanName, PlanResource, Refusal, Rejection, UserId, Violations,
};

use crate::people::PersonError;
use crate::ports::{InsertResourceError, RandomnessUnavailable, RememberedAnswer, StoreError};

/// Why a use case failed. The variants down to [`Self::AccountGone`] are shown to the caller; the others are for the log.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Fields of the request break their rules. All violations are listed.
    #[error("invalid request: {0}")]
    Invalid(Violations),
    /// The operation as a whole is refused.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The request was carried out before, with this answer (D12). Nothing was changed now.
    #[error("the request was answered before")]
    AnsweredBefore(Box<RememberedAnswer>),
    /// The account has reached the bound on its searches in flight on this node (R46).
    #[error("too many searches of the account at once")]
    TooManySearches,
    /// The account's remembered answers leave no room for this one yet (D12). Nothing was changed.
    #[error("no room to remember the answer")]
    NoRoomForAnswer {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The account began an export less than a minute ago, or one is still running (D66).
    #[error("too many exports of the account")]
    TooManyExports {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// Too many passwords of links are hashed on this node, or those of the request took too long (D131). Nothing was changed.
    #[error("too many passwords of links are being hashed at once")]
    PasswordsBusy,
    /// A question about clicks got no turn in time, because this node has too many others (D51).
    #[error("too many questions about clicks at once")]
    AnalyticsBusy,
    /// The account was deleted after the request was admitted, so its key is no longer valid.
    #[error("the account was deleted meanwhile")]
    AccountGone,
    /// The click store gave no answer. Everything else works (D51).
    #[error("the click store gave no answer")]
    AnalyticsUnavailable(#[source] StoreError),
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There were no random bytes for a key or a slug.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
    /// The password of a link could not be hashed.
    #[error("the password of a link could not be hashed: {0}")]
    HashingFailed(String),
    /// No generated slug was free. This takes a full address space or a broken source of randomness.
    #[error("no free slug after {attempts} draws")]
    NoFreeSlug {
        /// How many slugs were tried.
        attempts: u32,
    },
    /// A batch ended without an outcome for one of its items: a bug of the store or of this program.
    #[error("an item of a batch has no outcome")]
    NoOutcome,
}

impl AppError {
    /// The error for a resource that was not inserted.
    pub(crate) fn not_inserted(error: InsertResourceError, resource: PlanResource, limit: u64) -> Self {
        match error {
            InsertResourceError::LimitReached => Refusal::PlanLimitReached { resource, limit }.into(),
            InsertResourceError::AccountMissing => Self::AccountGone,
            InsertResourceError::Store(error) => error.into(),
        }
    }

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
            // `AnsweredBefore` is answered with the remembered answer, without a code.
            Self::AnsweredBefore(_)
            | Self::PasswordsBusy
            | Self::HashingFailed(_)
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

/// Why an operator's command failed. Operators do not use the API, so these errors have no code of the contract.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// No account has this id.
    #[error("there is no account {0}")]
    NoSuchAccount(AccountId),
    /// No account has this contact address.
    #[error("there is no account with the contact address {0}")]
    NoAccountWithEmail(Email),
    /// No key has this id.
    #[error("there is no key {0}")]
    NoSuchKey(ApiKeyId),
    /// The key is well formed, but no account has it. The message does not repeat it.
    #[error("this installation has not issued that key, or its account was deleted")]
    NoKeyOfThisSecret,
    /// No user has this id or e-mail address.
    #[error("there is no user {0}")]
    NoSuchUser(String),
    /// The user is disabled.
    #[error("the user {0} is disabled; enable it first with `signpost user enable`")]
    UserDisabled(UserId),
    /// Operators do not disable their own user, so that the last one stays in.
    #[error("this is your own user; another operator can disable it, and so can `signpost user disable`")]
    OwnUser,
    /// A use case of people failed for another reason.
    #[error(transparent)]
    Person(Box<PersonError>),
    /// The configuration has no plan of this name.
    #[error("there is no plan `{name}`; the plans are {known}")]
    NoSuchPlan {
        /// The requested name.
        name: PlanName,
        /// The names of all plans.
        known: String,
    },
    /// Another account has this contact address.
    #[error("an account has the contact address {0} already")]
    EmailTaken(String),
    /// Something broke.
    #[error(transparent)]
    Broken(#[from] AppError),
}

impl From<Refusal> for OperatorError {
    fn from(refusal: Refusal) -> Self {
        Self::Broken(refusal.into())
    }
}

impl From<StoreError> for OperatorError {
    fn from(error: StoreError) -> Self {
        Self::Broken(error.into())
    }
}

impl From<RandomnessUnavailable> for OperatorError {
    fn from(error: RandomnessUnavailable) -> Self {
        Self::Broken(error.into())
    }
}
