//! Deleting links in bulk (contract "POST /v1/redirects/bulk/delete", D30, D31).

use std::collections::HashSet;

use signpost_domain::{Batch, Id, LinkId, LinkIdKind, Rejection};

use super::batch_ids;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::{Attempts, commit};

/// Deletes those of the caller's links that `ids` name, all together, and says of each id, in the same order, what
/// became of it: the kind's `…NotFound`, or [`Refusal::DuplicateIdInBatch`](signpost_domain::Refusal) where it stood
/// before.
///
/// # Errors
/// The store broke, and nothing was deleted.
pub async fn delete_many<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    ids: &Batch<String>,
) -> Result<Vec<Result<Id<K>, Rejection>>, AppError> {
    let read = batch_ids::read_each(ids, |_, text| batch_ids::of_kind::<K>(text));
    let wanted: Vec<LinkId> = read.iter().flatten().copied().map(LinkId::from).collect();
    let deleted = delete_those(app, caller, &wanted).await?;
    let outcome = |read: Result<Id<K>, Rejection>| {
        read.and_then(|id| {
            if deleted.contains(&LinkId::from(id)) { Ok(id) } else { Err(K::LINK_KIND.not_found().into()) }
        })
    };
    Ok(read.into_iter().map(outcome).collect())
}

async fn delete_those(
    app: &Application,
    caller: &Caller,
    ids: &[LinkId],
) -> Result<HashSet<LinkId>, AppError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let deleted = work.delete_links(caller.account_id(), ids).await?;
            if !deleted.is_empty() {
                commit(app, work).await?;
            }
            Ok(deleted.into_iter().collect())
        })
        .await
}
