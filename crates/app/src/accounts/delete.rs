//! Deleting an account.

use signpost_domain::AccountId;

use super::operator_error::OperatorError;
use crate::application::Application;

/// Deletes an account with all its data.
pub async fn delete(app: &Application, id: AccountId) -> Result<(), OperatorError> {
    let mut work = app.store.begin().await?;
    if !work.delete_account(id).await? {
        return Err(OperatorError::NoSuchAccount(id));
    }
    Ok(work.commit().await?)
}
