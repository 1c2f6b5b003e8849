//! The passwords that visitors type to open a link (D131).

use signpost_domain::{AccountId, LinkId, Password};

use crate::application::Application;
use crate::ports::{Asker, HashingError, StoreError, Verdict};

/// Whether a password opens a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordCheck {
    /// It does.
    Right,
    /// It does not.
    Wrong,
    /// The link is gone, or its password was removed meanwhile. The address must be resolved anew.
    NoPassword,
}

/// A password was not checked.
#[derive(Debug, thiserror::Error)]
pub enum PasswordCheckError {
    /// Too many others wait already.
    #[error("too many passwords of links are being checked at once")]
    Busy,
    /// The store broke, or the hash of the link is missing. The link stays closed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The hasher failed, or the stored hash cannot be read. The link stays closed.
    #[error("the password of a link could not be checked: {0}")]
    Failed(String),
}

impl From<HashingError> for PasswordCheckError {
    fn from(error: HashingError) -> Self {
        match error {
            HashingError::Busy => Self::Busy,
            HashingError::Failed(reason) => Self::Failed(reason),
        }
    }
}

/// Checks what a visitor typed. It takes a place for the hash first, so that a flood of attempts does not reach the store. Nothing
/// is counted here.
///
/// # Errors
/// [`PasswordCheckError`]; the link stays closed.
pub async fn check_password(
    app: &Application,
    link: LinkId,
    account: AccountId,
    typed: Password,
) -> Result<PasswordCheck, PasswordCheckError> {
    let place = app.link_passwords.place(Asker::Stranger)?;
    let Some(hash) = app.store.link_password(account, link).await? else {
        return Ok(PasswordCheck::NoPassword);
    };
    Ok(match app.link_passwords.verify(place, typed, Some(hash)).await? {
        // A hash with the parameters of earlier days stays: only its owner gives a link a password.
        Verdict::Right { is_outdated: _ } => PasswordCheck::Right,
        Verdict::Wrong => PasswordCheck::Wrong,
    })
}
