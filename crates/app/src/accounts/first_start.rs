//! The first start on an empty store (D62).

use signpost_domain::{Account, ApiKey, ApiKeySecret};

use super::create::{CreateAccount, new_account};
use super::operator_error::OperatorError;
use crate::application::Application;
use crate::keys::new_key;
use crate::ports::InsertAccountError;
use crate::unit_of_work::{Attempts, commit};

/// What the first start made.
#[derive(Debug)]
pub struct FirstStart {
    /// The account.
    pub account: Account,
    /// Its key's record.
    pub key: ApiKey,
    /// The key itself, to be shown once.
    pub secret: ApiKeySecret,
}

/// If there is no account yet, creates one with a key, both in one unit of work, so that of several programs
/// started at once only one does. `None` if there is an account.
pub async fn first_start(
    app: &Application,
    command: CreateAccount,
) -> Result<Option<FirstStart>, OperatorError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if work.any_account().await? {
                return Ok(None);
            }
            let account = new_account(app, command.clone())?;
            let (key, secret) = new_key(app, account.id, None)?;
            match work.insert_account(&account).await {
                Ok(()) => {}
                Err(InsertAccountError::EmailTaken) => return Ok(None),
                Err(InsertAccountError::Store(error)) => return Err(error.into()),
            }
            if !work.insert_key(&key).await? {
                return Err(OperatorError::NoSuchAccount(account.id));
            }
            commit(app, work).await?;
            Ok(Some(FirstStart { account, key, secret }))
        })
        .await
}
