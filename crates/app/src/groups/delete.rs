//! Deleting a group.

use signpost_domain::id::GroupKind;
use signpost_domain::{AccountId, GroupId, IdReference, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::{Attempts, commit};

/// How many links are ungrouped in one unit of work.
const AT_ONCE: u16 = 1_000;

/// Deletes a group. Its links stay and become ungrouped (contract "Group"), a thousand at a time, so that a group of
/// any size holds up nobody else; the group itself goes with the last of them.
///
/// # Errors
/// [`Refusal::GroupNotFound`].
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<GroupKind>,
) -> Result<GroupId, AppError> {
    let id = id.id().ok_or(Refusal::GroupNotFound)?;
    while !delete_or_shrink(app, caller.account_id(), id).await? {}
    Ok(id)
}

/// Deletes the group if few enough links are left in it, and takes some out of it otherwise. Whether it is deleted.
async fn delete_or_shrink(app: &Application, account: AccountId, id: GroupId) -> Result<bool, AppError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let now = app.clock.now();
            let is_last = work.ungroup_some_links(account, id, AT_ONCE, now).await? < AT_ONCE;
            if is_last && !work.delete_group(account, id, now).await? {
                return Err(Refusal::GroupNotFound.into());
            }
            commit(app, work).await?;
            Ok(is_last)
        })
        .await
}
