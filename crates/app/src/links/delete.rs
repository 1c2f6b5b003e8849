//! Deletes links (contract "POST /v1/redirects/bulk/delete", D5, D30, D31).

use std::collections::HashSet;

use signpost_domain::{
    AuditAction, Batch, Id, IdReference, LinkId, LinkIdKind, Permission, Precondition, Rejection,
};

use super::batch_ids;
use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::unit_of_work::{Attempts, commit};

/// Deletes a link and frees its address.
///
/// # Errors
/// The kind's `…NotFound` (D2), and [`Refusal::PreconditionFailed`](signpost_domain::Refusal).
pub async fn delete<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
    precondition: &Precondition,
) -> Result<Id<K>, AppError> {
    caller.require(Permission::WriteLinks)?;
    let not_found = K::LINK_KIND.not_found();
    let Some(id) = id.id() else { return Err(not_found.into()) };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if *precondition != Precondition::None {
                // The deletion of a link takes it out of its group.
                work.expect_move();
                let stored = work.lock_link(caller.account_id(), id.into()).await?;
                precondition.check(stored.ok_or_else(|| not_found.clone())?.revision)?;
            }
            if work.delete_links(caller.account_id(), &[id.into()]).await?.is_empty() {
                return Err(not_found.clone().into());
            }
            record(app, work.as_mut(), deed(caller, &[id.into()])).await?;
            commit(app, work).await?;
            Ok(id)
        })
        .await
}

/// Deletes the caller's links with these ids in one unit of work. The answer has an outcome for each id, in
/// the same order: the deleted id or the kind's `…NotFound`. An id that occurs earlier in the batch gets
/// [`Refusal::DuplicateIdInBatch`](signpost_domain::Refusal).
///
/// # Errors
/// The store broke, and nothing was deleted.
pub async fn delete_many<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    ids: &Batch<String>,
    idempotency: Idempotency<'_, Vec<Result<Id<K>, Rejection>>>,
) -> Result<Vec<Result<Id<K>, Rejection>>, AppError> {
    caller.require(Permission::WriteLinks)?;
    let read = batch_ids::read_each(ids, |_, text| batch_ids::of_kind::<K>(text));
    delete_read(app, caller, read, idempotency).await
}

/// As [`delete_many`], for links of both kinds.
///
/// # Errors
/// The store broke, and nothing was deleted.
pub async fn delete_any(
    app: &Application,
    caller: &Caller,
    ids: &Batch<String>,
    idempotency: Idempotency<'_, Vec<Result<LinkId, Rejection>>>,
) -> Result<Vec<Result<LinkId, Rejection>>, AppError> {
    caller.require(Permission::WriteLinks)?;
    let read = batch_ids::read_each(ids, |_, text| batch_ids::of_any_kind(text, || "ids".to_owned()));
    delete_read(app, caller, read, idempotency).await
}

async fn delete_read<I>(
    app: &Application,
    caller: &Caller,
    read: Vec<Result<I, Rejection>>,
    idempotency: Idempotency<'_, Vec<Result<I, Rejection>>>,
) -> Result<Vec<Result<I, Rejection>>, AppError>
where
    I: Copy + Send + Sync,
    LinkId: From<I>,
{
    let requested: Vec<LinkId> = read.iter().flatten().copied().map(LinkId::from).collect();
    let outcomes = |deleted: &[LinkId]| -> Vec<Result<I, Rejection>> {
        let deleted: HashSet<LinkId> = deleted.iter().copied().collect();
        let outcome = |read: Result<I, Rejection>| {
            read.and_then(|given| {
                let id = LinkId::from(given);
                if deleted.contains(&id) { Ok(given) } else { Err(id.kind().not_found().into()) }
            })
        };
        read.iter().cloned().map(outcome).collect()
    };
    let operation = Operation::new(app, caller, idempotency);
    operation
        .run(|| async {
            let (mut work, mut deleted) = (None, vec![]);
            if !requested.is_empty() {
                let work = work.insert(operation.begin().await?);
                deleted = work.delete_links(caller.account_id(), &requested).await?;
                if !deleted.is_empty() {
                    record(app, work.as_mut(), deed(caller, &deleted)).await?;
                }
            }
            let outcomes = outcomes(&deleted);
            operation.finish(work, !deleted.is_empty(), &outcomes).await?;
            Ok(outcomes)
        })
        .await
}

/// One entry of the audit for all links of a request.
fn deed(caller: &Caller, deleted: &[LinkId]) -> Deed {
    let ids: Vec<String> = deleted.iter().map(LinkId::to_string).collect();
    Deed::of(caller, AuditAction::LinksDeleted, ids.join(" "))
}
