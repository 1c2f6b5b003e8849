//! Renaming a group (contract "PATCH /v1/groups/{id}", D33).

use signpost_domain::id::GroupKind;
use signpost_domain::{Group, IdReference, Name, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::{Attempts, commit};

/// Renames a group and returns it as it is then. The name that it has already writes nothing.
///
/// # Errors
/// [`Refusal::GroupNotFound`].
pub async fn rename(
    app: &Application,
    caller: &Caller,
    id: IdReference<GroupKind>,
    name: Name,
) -> Result<Group, AppError> {
    let id = id.id().ok_or(Refusal::GroupNotFound)?;
    let account = caller.account_id();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let before = work.lock_group(account, id).await?.ok_or(Refusal::GroupNotFound)?;
            let after = before.renamed(name.clone(), app.clock.now());
            if after == before {
                return Ok(before);
            }
            work.update_group(account, &after).await?;
            commit(app, work).await?;
            Ok(after)
        })
        .await
}
