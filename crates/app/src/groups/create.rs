//! Creating a group.

use signpost_domain::{Group, Name, PlanResource, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Conclusion, Operation};
use crate::ports::InsertGroupError;

/// Creates an empty group. Two groups may have the same name.
///
/// # Errors
/// [`Refusal::PlanLimitReached`].
pub async fn create(
    app: &Application,
    caller: &Caller,
    name: Name,
    conclusion: Conclusion<'_, Group>,
) -> Result<Group, AppError> {
    let group = Group::create(app.ids.next(), name, app.clock.now());
    let limit = caller.plan().limits.of(PlanResource::Groups);
    let operation = Operation::new(app, caller, conclusion);
    operation
        .run(|| async {
            let mut work = operation.begin().await?;
            match work.insert_group(caller.account_id(), &group, limit).await {
                Ok(()) => {}
                Err(InsertGroupError::AccountMissing) => return Err(AppError::AccountGone),
                Err(InsertGroupError::LimitReached) => {
                    return Err(Refusal::PlanLimitReached { resource: PlanResource::Groups, limit }.into());
                }
                Err(InsertGroupError::Store(error)) => return Err(error.into()),
            }
            operation.conclude(Some(work), true, &group).await?;
            Ok(group.clone())
        })
        .await
}
