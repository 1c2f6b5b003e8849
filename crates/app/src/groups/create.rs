//! Creating a group.

use signpost_domain::{Group, Name, PlanResource, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::InsertGroupError;
use crate::unit_of_work::{Attempts, commit};

/// Creates an empty group. Two groups may have the same name.
///
/// # Errors
/// [`Refusal::PlanLimitReached`].
pub async fn create(app: &Application, caller: &Caller, name: Name) -> Result<Group, AppError> {
    let group = Group::create(app.ids.next(), name, app.clock.now());
    let limit = caller.plan().limits.of(PlanResource::Groups);
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            match work.insert_group(caller.account_id(), &group, limit).await {
                Ok(()) => {}
                Err(InsertGroupError::AccountMissing) => return Err(AppError::AccountGone),
                Err(InsertGroupError::LimitReached) => {
                    return Err(Refusal::PlanLimitReached { resource: PlanResource::Groups, limit }.into());
                }
                Err(InsertGroupError::Store(error)) => return Err(error.into()),
            }
            commit(app, work).await?;
            Ok(group.clone())
        })
        .await
}
