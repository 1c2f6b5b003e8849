//! Updating links, any number in the same few statements (D30, D123).

use diesel::QueryResult;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use signpost_app::ports::UpdateLinkError;
use signpost_domain::{AccountId, Link};

use crate::click_credits;
use crate::failure::{Failure, is_taken};
use crate::group_counts::{self, GroupMoves};
use crate::link_tags;
use crate::rows::written_links::{UpdateLink, UpdateLinks};
use crate::statement::both;
use signpost_sql_rows::columns::IdBytes;

/// Replaces links, each given before and after, and updates the counters of their groups. Each statement makes one decision, in the
/// order in which the port reports them.
pub(crate) async fn update(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    changes: &[(&Link, &Link)],
) -> Result<Result<(), UpdateLinkError>, Failure> {
    let moves = GroupMoves::between(account, changes.iter().copied());
    let changes_groups = !moves.by_group.is_empty();
    // To PostgreSQL a taken address or external id is an error, and a missing group too, which would end the whole transaction.
    let may_be_refused = changes_groups
        || changes.iter().any(|(before, after)| {
            before.placement != after.placement || before.external_id != after.external_id
        });
    let (mut saving, mut of_groups, mut of_links) = (*connection, *connection, *connection);
    let save = async {
        if may_be_refused {
            saving.batch_execute("SAVEPOINT before_update").await?;
        }
        Ok(())
    };
    // The refusal is a value here, so that the caller learns which one it was.
    let write = async { Ok::<_, Failure>(write(&mut of_links, account, changes).await) };
    let (is_moved, written) = if changes_groups {
        // Not all pipelined: a statement that must first be prepared would run after the other one, and groups come first in
        // the lock order.
        let ((), is_moved) = both(save, group_counts::apply(moves, &mut of_groups)).await?;
        (is_moved, if is_moved { write.await? } else { Ok(Vec::new()) })
    } else {
        (true, both(save, write).await?.1)
    };
    let refusal = match written {
        // The groups that links leave exist because of the foreign key.
        _ if !is_moved => UpdateLinkError::GroupMissing,
        Ok(updated) if updated.len() == changes.len() => {
            link_tags::rewrite(connection, account, changes).await?;
            click_credits::rewrite(connection, changes).await?;
            return Ok(Ok(()));
        }
        Ok(updated) => {
            let is_missing = |link: &Link| !updated.contains(&link.id().into());
            let missing = changes.iter().map(|(_, after)| after).find(|link| is_missing(link));
            let missing = missing.map(|link| link.id().to_string()).unwrap_or_default();
            return Err(Failure::Other(format!("the link {missing} was not locked")));
        }
        Err(error) if may_be_refused && is_taken(&error, "links_address") => UpdateLinkError::AddressTaken,
        Err(error) if may_be_refused && is_taken(&error, "links_of_external_id") => {
            UpdateLinkError::ExternalIdTaken
        }
        Err(error) => return Err(error.into()),
    };
    connection.batch_execute("ROLLBACK TO SAVEPOINT before_update").await?;
    Ok(Err(refusal))
}

/// Writes the rows, and returns their ids. A statement for one link needs no arrays.
async fn write(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    changes: &[(&Link, &Link)],
) -> QueryResult<Vec<IdBytes>> {
    match changes {
        [] => Ok(Vec::new()),
        [(_, after)] => UpdateLink::of(account, after).load(connection).await,
        _ => UpdateLinks::of(account, in_order_of_claims(changes)).load(connection).await,
    }
}

/// The links as they will be, in the order of the external ids and the addresses that they take, so that two batches that claim
/// the same ones do not deadlock. Nobody waits for what a link keeps.
fn in_order_of_claims<'a>(changes: &[(&'a Link, &'a Link)]) -> Vec<&'a Link> {
    let mut in_order = changes.to_vec();
    in_order.sort_by_cached_key(|(before, after)| {
        let external_id = after.external_id.clone().filter(|id| before.external_id.as_ref() != Some(id));
        let address =
            after.placement.address().filter(|address| before.placement.address().as_ref() != Some(address));
        (external_id, address)
    });
    in_order.into_iter().map(|(_, after)| after).collect()
}
