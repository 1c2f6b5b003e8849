//! Finding the account that an operator names.

use std::fmt;
use std::str::FromStr;

use signpost_domain::{AccountId, Email};

use super::operator_error::OperatorError;
use crate::application::Application;

/// An account as an operator names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountReference {
    /// By its id.
    Id(AccountId),
    /// By its owner's address. No two accounts have the same.
    Email(Email),
}

/// The text is neither an account's id nor an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is neither an account id (acc_…) nor an e-mail address")]
pub struct MalformedAccountReference;

impl FromStr for AccountReference {
    type Err = MalformedAccountReference;

    fn from_str(text: &str) -> Result<Self, MalformedAccountReference> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        Email::parse(text).map(Self::Email).map_err(|_| MalformedAccountReference)
    }
}

impl fmt::Display for AccountReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Email(email) => email.fmt(f),
        }
    }
}

/// The id of the account that is meant. An id comes back unchecked: the use case that gets it looks for its account.
///
/// # Errors
/// [`OperatorError::NoAccountWithEmail`]. Or the store broke.
pub async fn find(app: &Application, account: &AccountReference) -> Result<AccountId, OperatorError> {
    match account {
        AccountReference::Id(id) => Ok(*id),
        AccountReference::Email(email) => {
            let found = app.store.account_with_email(email).await?;
            Ok(found.ok_or_else(|| OperatorError::NoAccountWithEmail(email.clone()))?.id)
        }
    }
}
