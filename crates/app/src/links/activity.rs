//! Activates and deactivates several links at once.

use std::collections::HashSet;

use signpost_domain::{Batch, Link, LinkId, Permission, Rejection};

use super::batch_ids;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::ports::UpdateLinkError;

/// The outcome for each id of a batch.
type Outcomes = Vec<Result<LinkId, Rejection>>;

/// Activates or deactivates the caller's links with these ids, of both kinds, in one unit of work. The answer has an outcome
/// for each id, in the same order: the id or the kind's `…NotFound`. An id that occurs earlier in the batch gets
/// [`Refusal::DuplicateIdInBatch`](signpost_domain::Refusal).
///
/// # Errors
/// The store broke, and nothing was changed.
pub async fn set_active(
    app: &Application,
    caller: &Caller,
    ids: &Batch<String>,
    is_active: bool,
    idempotency: Idempotency<'_, Outcomes>,
) -> Result<Outcomes, AppError> {
    caller.require(Permission::WriteLinks)?;
    let account = caller.account_id();
    let read = batch_ids::read_each(ids, |_, text| batch_ids::of_any_kind(text, || "ids".to_owned()));
    let mut requested: Vec<LinkId> = read.iter().flatten().copied().collect();
    // Every unit of work locks links in this order.
    requested.sort_unstable();
    let operation = Operation::new(app, caller, idempotency);
    operation
        .run(|| async {
            let mut work = operation.begin().await?;
            let mut has_changed = false;
            let mut found = HashSet::new();
            for id in &requested {
                let Some(before) = work.lock_link(account, *id).await? else { continue };
                found.insert(*id);
                if before.is_active == is_active {
                    continue;
                }
                let mut after = Link { is_active, ..before.clone() };
                after.mark_changed(app.clock.now());
                match work.update_link(account, &before, &after).await {
                    Ok(()) => has_changed = true,
                    // Neither address, external id nor group changes.
                    Err(
                        UpdateLinkError::AddressTaken
                        | UpdateLinkError::ExternalIdTaken
                        | UpdateLinkError::GroupMissing,
                    ) => {
                        return Err(AppError::NoOutcome);
                    }
                    Err(UpdateLinkError::Store(error)) => return Err(error.into()),
                }
            }
            let outcome = |read: Result<LinkId, Rejection>| {
                read.and_then(
                    |id| if found.contains(&id) { Ok(id) } else { Err(id.kind().not_found().into()) },
                )
            };
            let outcomes: Outcomes = read.iter().cloned().map(outcome).collect();
            operation.finish(Some(work), has_changed, &outcomes).await?;
            Ok(outcomes)
        })
        .await
}
