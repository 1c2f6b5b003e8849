//! Deleting an account.

use signpost_domain::AccountId;

use super::operator_error::OperatorError;
use super::suspension::suspend;
use crate::application::Application;
use crate::ports::Upkeep;
use crate::unit_of_work::{Attempts, commit};

/// How many links are deleted in one unit of work.
const AT_ONCE: u16 = 1_000;

/// Deletes an account with all its data. It is suspended first, and its links go a thousand at a time, so that an
/// account of any size holds up nobody else. What is interrupted on the way leaves a suspended account, and can be
/// begun again.
pub async fn delete(app: &Application, id: AccountId) -> Result<(), OperatorError> {
    suspend(app, id).await?;
    while delete_some_links(app, id).await? == AT_ONCE {}
    // Clicks that are on their way yet are forgotten by `ForgetClicks`.
    while app.click_store.forget_clicks(id, None).await? == Upkeep::More {}
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.delete_account(id).await? {
                return Err(OperatorError::NoSuchAccount(id));
            }
            Ok(commit(app, work).await?)
        })
        .await
}

async fn delete_some_links(app: &Application, id: AccountId) -> Result<u16, OperatorError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let deleted = work.delete_some_links(id, AT_ONCE).await?;
            commit(app, work).await?;
            Ok(deleted)
        })
        .await
}
