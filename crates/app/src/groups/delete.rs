//! Deleting a group.

use signpost_domain::id::GroupKind;
use signpost_domain::{GroupId, IdReference, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::retried;

/// Deletes a group. Its links stay and become ungrouped (contract "Group").
///
/// # Errors
/// [`Refusal::GroupNotFound`].
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<GroupKind>,
) -> Result<GroupId, AppError> {
    let id = id.id().ok_or(Refusal::GroupNotFound)?;
    retried(|| async {
        let mut work = app.store.begin().await?;
        if !work.delete_group(caller.account_id(), id, app.clock.now()).await? {
            return Err(Refusal::GroupNotFound.into());
        }
        work.commit().await?;
        Ok(id)
    })
    .await
}
