//! Putting links into a group and taking them out, in bulk (contract "POST /v1/groups/{id}/unassign", D30–D32).

use std::collections::HashMap;

use signpost_domain::id::GroupKind;
use signpost_domain::{Batch, IdReference, Link, LinkId, Refusal, Rejection};

use super::get::get;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Conclusion, Operation};
use crate::links::batch_ids;

/// The field of a request that names the links.
pub const LINK_IDS: &str = "link_ids";

/// What became of each id of a batch: the link as it is then, or why it was not moved.
pub type Moved = Vec<Result<Link, Rejection>>;

/// Puts those of the caller's links that `ids` name into a group, wherever they were, all together. The answer says of
/// each id, in the same order, what became of it: the link as it is then, the kind's `…NotFound`, or
/// [`Refusal::DuplicateIdInBatch`] where it stood before.
///
/// # Errors
/// [`Refusal::GroupNotFound`]. Or the store broke, and nothing was moved.
pub async fn assign(
    app: &Application,
    caller: &Caller,
    group: IdReference<GroupKind>,
    ids: &Batch<String>,
    conclusion: Conclusion<'_, Moved>,
) -> Result<Moved, AppError> {
    move_links(app, caller, group, ids, Direction::Into, conclusion).await
}

/// Takes those of the caller's links that `ids` name out of a group, all together. The answer is that of [`assign`]; a
/// link that is not in this group is not found there.
///
/// # Errors
/// [`Refusal::GroupNotFound`]. Or the store broke, and nothing was moved.
pub async fn unassign(
    app: &Application,
    caller: &Caller,
    group: IdReference<GroupKind>,
    ids: &Batch<String>,
    conclusion: Conclusion<'_, Moved>,
) -> Result<Moved, AppError> {
    move_links(app, caller, group, ids, Direction::OutOf, conclusion).await
}

#[derive(Debug, Clone, Copy)]
enum Direction {
    Into,
    OutOf,
}

async fn move_links(
    app: &Application,
    caller: &Caller,
    group: IdReference<GroupKind>,
    ids: &Batch<String>,
    direction: Direction,
    conclusion: Conclusion<'_, Moved>,
) -> Result<Moved, AppError> {
    let account = caller.account_id();
    let read = batch_ids::read_each(ids, |index, text| {
        batch_ids::of_any_kind(text, || format!("{LINK_IDS}[{index}]"))
    });
    let wanted: Vec<LinkId> = read.iter().flatten().copied().collect();
    let outcomes = |moved: Vec<Link>| -> Moved {
        let mut moved: HashMap<LinkId, Link> = moved.into_iter().map(|link| (link.id(), link)).collect();
        let outcome = |read: Result<LinkId, Rejection>| {
            read.and_then(|id| moved.remove(&id).ok_or_else(|| id.kind().not_found().into()))
        };
        read.iter().cloned().map(outcome).collect()
    };
    let operation = Operation::new(app, caller, conclusion);
    operation
        .run(|| async {
            if wanted.is_empty() {
                // Nothing to move, so nothing to write; but the group must be there all the same.
                get(app, caller, group).await?;
                let outcomes = outcomes(vec![]);
                operation.conclude(None, false, &outcomes).await?;
                return Ok(outcomes);
            }
            let group = group.id().ok_or(Refusal::GroupNotFound)?;
            let mut work = operation.begin().await?;
            let now = app.clock.now();
            let moved = match direction {
                Direction::Into => work.assign_links(account, group, &wanted, now).await?,
                Direction::OutOf => work.unassign_links(account, group, &wanted, now).await?,
            };
            let moved = moved.ok_or(Refusal::GroupNotFound)?;
            let has_moved = !moved.is_empty();
            let outcomes = outcomes(moved);
            operation.conclude(Some(work), has_moved, &outcomes).await?;
            Ok(outcomes)
        })
        .await
}
