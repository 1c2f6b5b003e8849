//! Use cases of groups (contract "Group", D5, D30–D32).

use std::collections::HashMap;

use signpost_domain::id::GroupKind;
use signpost_domain::{
    AuditAction, Batch, Group, GroupId, IdReference, Link, LinkId, Name, Page, PageLimit, PagePosition,
    Permission, PlanResource, Precondition, Refusal, Rejection, Violations,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::links::batch_ids;
use crate::ports::{InsertGroupError, StoreError};
use crate::unit_of_work::{Attempts, commit};

/// Creates an empty group. Two groups may have the same name.
///
/// # Errors
/// [`Refusal::PlanLimitReached`].
pub async fn create(
    app: &Application,
    caller: &Caller,
    name: Name,
    idempotency: Idempotency<'_, Group>,
) -> Result<Group, AppError> {
    caller.require(Permission::WriteLinks)?;
    let group = Group::create(app.ids.next(), name, app.clock.now());
    let limit = caller.plan().limits.of(PlanResource::Groups);
    let operation = Operation::new(app, caller, idempotency);
    operation
        .run(|| async {
            let mut work = operation.begin().await?;
            let inserted = work.insert_group(caller.account_id(), &group, limit).await;
            inserted.map_err(|error| match error {
                InsertGroupError::IdTaken => StoreError::unavailable("a new id is taken").into(),
                InsertGroupError::Resource(error) => {
                    AppError::not_inserted(error, PlanResource::Groups, limit)
                }
            })?;
            operation.finish(Some(work), true, &group).await?;
            Ok(group.clone())
        })
        .await
}

/// One page of the caller's groups, newest first.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Group>, AppError> {
    caller.require(Permission::Read)?;
    Ok(app.store.groups(caller.account_id(), limit, after).await?)
}

/// The caller's group with this id.
///
/// # Errors
/// [`Refusal::GroupNotFound`], equally for a malformed id, an unknown id, and another account's (D2).
pub async fn get(app: &Application, caller: &Caller, id: IdReference<GroupKind>) -> Result<Group, AppError> {
    caller.require(Permission::Read)?;
    find(app, caller, id).await
}

/// [`get`] for a caller whose permission was checked.
pub(crate) async fn find(
    app: &Application,
    caller: &Caller,
    id: IdReference<GroupKind>,
) -> Result<Group, AppError> {
    let id = id.id().ok_or(Refusal::GroupNotFound)?;
    let group = app.store.group(caller.account_id(), id).await?;
    Ok(group.ok_or(Refusal::GroupNotFound)?)
}

/// Renames a group and returns it. If the name stays the same, nothing is written.
///
/// # Errors
/// [`Refusal::GroupNotFound`] and [`Refusal::PreconditionFailed`]. [`AppError::Invalid`] for an invalid name, in place of the former but
/// after the latter, as for links (D120).
pub async fn rename(
    app: &Application,
    caller: &Caller,
    id: IdReference<GroupKind>,
    name: Result<Name, Violations>,
    precondition: &Precondition,
) -> Result<Group, AppError> {
    caller.require(Permission::WriteLinks)?;
    let not_found = || match &name {
        Ok(_) => AppError::from(Refusal::GroupNotFound),
        Err(violations) => AppError::Invalid(violations.clone()),
    };
    let id = id.id().ok_or_else(not_found)?;
    let account = caller.account_id();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let before = work.lock_group(account, id).await?.ok_or_else(not_found)?;
            precondition.check(before.revision)?;
            let name = name.clone().map_err(AppError::Invalid)?;
            let after = before.renamed(name, app.clock.now());
            if after == before {
                return Ok(before);
            }
            work.update_group(account, &after).await?;
            commit(app, work).await?;
            Ok(after)
        })
        .await
}

/// How many links one unit of work ungroups.
const LINKS_AT_ONCE: u16 = 1_000;

/// Deletes a group. Its links stay and become ungrouped (contract "Group"), a thousand at a time, so that a large group
/// does not block other requests. The last unit of work also deletes the group. The first one decides on the precondition.
///
/// # Errors
/// [`Refusal::GroupNotFound`] and [`Refusal::PreconditionFailed`].
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<GroupKind>,
    precondition: &Precondition,
) -> Result<GroupId, AppError> {
    caller.require(Permission::WriteLinks)?;
    let id = id.id().ok_or(Refusal::GroupNotFound)?;
    if *precondition != Precondition::None {
        // Refused before any link is touched; the first unit of work decides under a lock.
        precondition.check(find(app, caller, id.into()).await?.revision)?;
    }
    let mut required = precondition;
    while !delete_or_shrink(app, caller, id, required).await? {
        required = &Precondition::None;
    }
    Ok(id)
}

/// Takes up to a thousand links out of the group, and deletes it if none is left. Returns whether it is deleted.
async fn delete_or_shrink(
    app: &Application,
    caller: &Caller,
    id: GroupId,
    precondition: &Precondition,
) -> Result<bool, AppError> {
    let account = caller.account_id();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let now = app.clock.now();
            let is_last = work.ungroup_some_links(account, id, LINKS_AT_ONCE, now).await? < LINKS_AT_ONCE;
            // The group is locked by now. A refusal undoes the change of its links.
            if *precondition != Precondition::None {
                let stored = work.lock_group(account, id).await?.ok_or(Refusal::GroupNotFound)?;
                precondition.check(stored.revision)?;
            }
            if is_last && !work.delete_group(account, id, now).await? {
                return Err(Refusal::GroupNotFound.into());
            }
            if is_last {
                let deed = Deed::of(caller, AuditAction::GroupDeleted, id.to_string());
                record(app, work.as_mut(), deed).await?;
            }
            commit(app, work).await?;
            Ok(is_last)
        })
        .await
}

/// The field of a request that names the links.
pub const LINK_IDS: &str = "link_ids";

/// The outcome for each id of a batch: the moved link, or why it was not moved.
pub type Moved = Vec<Result<Link, Rejection>>;

/// Moves the caller's links with these ids into a group, out of any other group, in one unit of work. The
/// answer has an outcome for each id, in the same order: the moved link or the kind's `…NotFound`. An id that
/// occurs earlier in the batch gets [`Refusal::DuplicateIdInBatch`].
///
/// # Errors
/// [`Refusal::GroupNotFound`]. Or the store broke, and nothing was moved.
pub async fn assign(
    app: &Application,
    caller: &Caller,
    group: IdReference<GroupKind>,
    ids: &Batch<String>,
    idempotency: Idempotency<'_, Moved>,
) -> Result<Moved, AppError> {
    caller.require(Permission::WriteLinks)?;
    move_links(app, caller, group, ids, Direction::Into, idempotency).await
}

/// Takes the caller's links with these ids out of a group, in one unit of work. The answer is like that of [`assign`]. The
/// outcome for a link that is not in this group is `…NotFound`.
///
/// # Errors
/// [`Refusal::GroupNotFound`]. Or the store broke, and nothing was moved.
pub async fn unassign(
    app: &Application,
    caller: &Caller,
    group: IdReference<GroupKind>,
    ids: &Batch<String>,
    idempotency: Idempotency<'_, Moved>,
) -> Result<Moved, AppError> {
    caller.require(Permission::WriteLinks)?;
    move_links(app, caller, group, ids, Direction::OutOf, idempotency).await
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
    idempotency: Idempotency<'_, Moved>,
) -> Result<Moved, AppError> {
    let account = caller.account_id();
    let read = batch_ids::read_each(ids, |index, text| {
        batch_ids::of_any_kind(text, || format!("{LINK_IDS}[{index}]"))
    });
    let requested: Vec<LinkId> = read.iter().flatten().copied().collect();
    let outcomes = |moved: Vec<Link>| -> Moved {
        let mut moved: HashMap<LinkId, Link> = moved.into_iter().map(|link| (link.id(), link)).collect();
        let outcome = |read: Result<LinkId, Rejection>| {
            read.and_then(|id| moved.remove(&id).ok_or_else(|| id.kind().not_found().into()))
        };
        read.iter().cloned().map(outcome).collect()
    };
    let operation = Operation::new(app, caller, idempotency);
    operation
        .run(|| async {
            if requested.is_empty() {
                // No link is left to move, but an unknown group is still refused.
                find(app, caller, group).await?;
                let outcomes = outcomes(vec![]);
                operation.finish(None, false, &outcomes).await?;
                return Ok(outcomes);
            }
            let group = group.id().ok_or(Refusal::GroupNotFound)?;
            let mut work = operation.begin().await?;
            let now = app.clock.now();
            let moved = match direction {
                Direction::Into => work.assign_links(account, group, &requested, now).await?,
                Direction::OutOf => work.unassign_links(account, group, &requested, now).await?,
            };
            let moved = moved.ok_or(Refusal::GroupNotFound)?;
            let has_moved = !moved.is_empty();
            let outcomes = outcomes(moved);
            operation.finish(Some(work), has_moved, &outcomes).await?;
            Ok(outcomes)
        })
        .await
}
