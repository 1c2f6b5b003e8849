//! Listing an account's keys.

use signpost_domain::{AccountId, ApiKey};

use crate::accounts::OperatorError;
use crate::application::Application;

/// The keys of an account, revoked ones included, newest first.
pub async fn list(app: &Application, account: AccountId) -> Result<Vec<ApiKey>, OperatorError> {
    if app.store.account(account).await?.is_none() {
        return Err(OperatorError::NoSuchAccount(account));
    }
    Ok(app.store.keys(account).await?)
}
