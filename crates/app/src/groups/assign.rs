//! Putting links into a group and taking them out, in bulk (contract "POST /v1/groups/{id}/unassign", D30–D32).

use std::collections::HashMap;

use signpost_domain::id::GroupKind;
use signpost_domain::{Batch, GroupId, IdReference, Link, LinkId, Refusal, Rejection};

use super::get::get;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::links::batch_ids;
use crate::unit_of_work::{Attempts, commit};

/// The field of a request that names the links.
pub const LINK_IDS: &str = "link_ids";

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
) -> Result<Vec<Result<Link, Rejection>>, AppError> {
    move_links(app, caller, group, ids, Direction::Into).await
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
) -> Result<Vec<Result<Link, Rejection>>, AppError> {
    move_links(app, caller, group, ids, Direction::OutOf).await
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
) -> Result<Vec<Result<Link, Rejection>>, AppError> {
    let read = batch_ids::read_each(ids, |index, text| {
        batch_ids::of_any_kind(text, || format!("{LINK_IDS}[{index}]"))
    });
    let wanted: Vec<LinkId> = read.iter().flatten().copied().collect();
    let moved = if wanted.is_empty() {
        // Nothing to move, so no unit of work; but the group must be there all the same.
        get(app, caller, group).await?;
        vec![]
    } else {
        let group = group.id().ok_or(Refusal::GroupNotFound)?;
        move_those(app, caller, group, &wanted, direction).await?
    };
    let mut moved: HashMap<LinkId, Link> = moved.into_iter().map(|link| (link.id(), link)).collect();
    let outcome = |read: Result<LinkId, Rejection>| {
        read.and_then(|id| moved.remove(&id).ok_or_else(|| id.kind().not_found().into()))
    };
    Ok(read.into_iter().map(outcome).collect())
}

async fn move_those(
    app: &Application,
    caller: &Caller,
    group: GroupId,
    ids: &[LinkId],
    direction: Direction,
) -> Result<Vec<Link>, AppError> {
    let account = caller.account_id();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let now = app.clock.now();
            let moved = match direction {
                Direction::Into => work.assign_links(account, group, ids, now).await?,
                Direction::OutOf => work.unassign_links(account, group, ids, now).await?,
            };
            let moved = moved.ok_or(Refusal::GroupNotFound)?;
            if !moved.is_empty() {
                commit(app, work).await?;
            }
            Ok(moved)
        })
        .await
}
