//! Suspending and resuming an account.

use signpost_domain::{AccountId, Timestamp};

use super::operator_error::OperatorError;
use crate::application::Application;
use crate::unit_of_work::{Attempts, commit};

/// Suspends an account: its requests are refused and its links stop resolving, at once.
pub async fn suspend(app: &Application, id: AccountId) -> Result<(), OperatorError> {
    set_suspended(app, id, Some(app.clock.now())).await
}

/// Resumes a suspended account; one that is not suspended stays as it is.
pub async fn resume(app: &Application, id: AccountId) -> Result<(), OperatorError> {
    set_suspended(app, id, None).await
}

async fn set_suspended(
    app: &Application,
    id: AccountId,
    since: Option<Timestamp>,
) -> Result<(), OperatorError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.set_suspended(id, since).await? {
                return Err(OperatorError::NoSuchAccount(id));
            }
            Ok(commit(app, work).await?)
        })
        .await
}
