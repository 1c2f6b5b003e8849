//! Applying a change of clicks that was computed from a snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_click_store::{Applied, ClickChange, DayChange, DayEffect};
use signpost_domain::{AccountId, Timestamp};

use super::{days, digests, inbox, retention, segments};
use crate::failure::Failure;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::IdBytes;

statement! {
    /// Blocks the deletion of accounts' clicks until this transaction ends.
    Enter -> Bool {} =
    "SELECT is_the_row FROM click_packers FOR SHARE"
}

pub(super) async fn apply(
    store: &PostgresStore,
    change: ClickChange,
    ends: Instant,
) -> Result<Applied, Failure> {
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    let outcome = lease.begin_with(ends, async |connection| write(connection, change).await).await?;
    if outcome == Applied::Whole {
        lease.commit(ends, Vec::new()).await?;
    }
    Ok(outcome)
}

/// Locks what the change rests on, and then makes it. Outdated changes leave the transaction to be rolled back.
async fn write(connection: &mut &AsyncPgConnection, change: ClickChange) -> Result<Applied, Failure> {
    let ClickChange { taken, unreadable, days: changes } = change;
    let _: bool = Enter {}.get_result(connection).await?;
    if !inbox::hold(connection, &taken).await?
        || !days::hold(connection, &changes).await?
        || has_forgotten(connection, &changes).await?
    {
        return Ok(Applied::Outdated);
    }
    inbox::set_aside(connection, unreadable).await?;
    inbox::delete(connection, &taken).await?;
    days::mark(connection, &changes).await?;
    let (mut removed, mut added, mut new_digests) = (Vec::new(), Vec::new(), Vec::new());
    let mut maybe_empty = Vec::new();
    let mut last: BTreeMap<(IdBytes, IdBytes), Timestamp> = BTreeMap::new();
    for DayChange { account, day, version: _, effect } in changes {
        match effect {
            DayEffect::NewSegments(replacement) | DayEffect::Sealed(replacement) => {
                removed.extend(replacement.removed);
                added.extend(replacement.added);
            }
            DayEffect::Deleted(segments) => {
                removed.extend(segments);
                maybe_empty.push((account, day));
            }
            DayEffect::Digested { digests, last_clicks } => {
                new_digests.extend(digests.into_iter().map(|digest| (account, day, digest)));
                for (link, at) in last_clicks {
                    let latest = last.entry((account.into(), link.into())).or_insert(at);
                    *latest = at.max(*latest);
                }
            }
        }
    }
    segments::delete(connection, removed).await?;
    segments::insert(connection, added).await?;
    days::delete_empty(connection, &maybe_empty).await?;
    digests::store(connection, new_digests).await?;
    digests::note_last_clicks(connection, last).await?;
    Ok(Applied::Whole)
}

/// Whether an account with new clicks was deleted.
async fn has_forgotten(connection: &mut &AsyncPgConnection, changes: &[DayChange]) -> Result<bool, Failure> {
    let with_new_clicks = changes.iter().filter(|change| matches!(change.effect, DayEffect::NewSegments(_)));
    let accounts: BTreeSet<AccountId> = with_new_clicks.map(|change| change.account).collect();
    let accounts = accounts.into_iter().map(IdBytes::from).collect();
    Ok(!retention::forgotten(connection, accounts).await?.is_empty())
}
