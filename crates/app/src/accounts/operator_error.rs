//! How the operator's use cases fail. Operators are no API clients, so these errors have no contract code.

use signpost_domain::{AccountId, ApiKeyId, Email, PlanName};

use crate::app_error::AppError;
use crate::ports::{RandomnessUnavailable, StoreError};

/// Why the program did not do what its operator asked.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// There is no account with this id.
    #[error("there is no account {0}")]
    NoSuchAccount(AccountId),
    /// No account's owner has this e-mail address.
    #[error("there is no account with the e-mail address {0}")]
    NoAccountWithEmail(Email),
    /// There is no key with this id.
    #[error("there is no key {0}")]
    NoSuchKey(ApiKeyId),
    /// The key is well formed, but no account has it. The message does not repeat it.
    #[error("this installation has not issued that key, or its account was deleted")]
    NoKeyOfThisSecret,
    /// The configuration has no plan of this name.
    #[error("there is no plan `{name}`; the plans are {known}")]
    NoSuchPlan {
        /// The name asked for.
        name: PlanName,
        /// The names that there are.
        known: String,
    },
    /// An account has this e-mail address already.
    #[error("an account has the e-mail address {0} already")]
    EmailTaken(String),
    /// Something broke.
    #[error(transparent)]
    Broken(#[from] AppError),
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
