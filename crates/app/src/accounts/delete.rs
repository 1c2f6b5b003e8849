//! Deleting an account.

use signpost_domain::AccountId;

use super::operator_error::OperatorError;
use crate::application::Application;
use crate::unit_of_work::retried;

/// Deletes an account with all its data.
pub async fn delete(app: &Application, id: AccountId) -> Result<(), OperatorError> {
    retried(|| async {
        let mut work = app.store.begin().await?;
        if !work.delete_account(id).await? {
            return Err(OperatorError::NoSuchAccount(id));
        }
        Ok(work.commit().await?)
    })
    .await
}
