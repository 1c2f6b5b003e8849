//! Inserting any number of links in the same few statements (D30).
//!
//! The outcome is the same as if the links were inserted one after the other. One statement locks their groups and counts
//! the links there. It inserts all of them as if none were refused, and counts them in the account. Then the links beyond
//! the account's limit are taken back. A full account is only locked, so it never inserts a batch that must be taken back
//! whole.

use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::Insertion;
use signpost_domain::{AccountId, Link};

use crate::counters;
use crate::failure::Failure;
use crate::group_counts::{self, GroupMoves};
use crate::rows::written_links::NewLinks;
use crate::schema::links;
use crate::statement::both;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, signed};

/// Inserts each link that is not refused, and updates the counters of the account and of the groups. Returns the outcome of
/// each link, or `None` if the account does not exist.
pub(crate) async fn insert(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    links: &[Link],
    links_limit: u64,
) -> Result<Option<Vec<Insertion>>, Failure> {
    refuse_repeated_ids(links)?;
    let statement = NewLinks::of(account, links, links_limit);
    let Some(mut outcome) = run(connection, account, &statement).await? else { return Ok(None) };
    if !outcome.had_room && outcome.count < links_limit {
        // The account was full, and the transaction that held it made room. It is locked here now, so the second run is
        // final.
        let Some(again) = run(connection, account, &statement).await? else { return Ok(None) };
        outcome = again;
    }
    let Outcome { count, had_room, groups, inserted } = outcome;
    let has_its_group = |link: &Link| link.group_id.is_none_or(|group| groups.contains(&group.into()));

    let mut room = if had_room { links_limit.saturating_sub(count) } else { 0 };
    let mut insertions = Vec::with_capacity(links.len());
    let mut excess = Vec::new();
    let mut leaving = GroupMoves::of(account);
    for link in links {
        let is_in = inserted.contains(&link.id().into());
        let insertion = if !has_its_group(link) {
            Insertion::GroupMissing
        } else if room == 0 {
            if is_in {
                excess.push(IdBytes::from(link.id()));
            }
            Insertion::LimitReached
        } else if is_in {
            room -= 1;
            Insertion::Done
        } else {
            Insertion::AddressTaken
        };
        match (insertion, link.group_id) {
            (Insertion::LimitReached | Insertion::AddressTaken, Some(group)) if had_room => {
                leaving.leave(group, link.kind());
            }
            // A missing group has no counter to correct, and a full account counted nothing.
            (_, _) => {}
        }
        insertions.push(insertion);
    }
    if !excess.is_empty() {
        let too_many = signed(excess.len());
        let (mut deleting, mut counting) = (*connection, *connection);
        let delete = async {
            let excess = links::table.filter(links::id.eq_any(excess));
            Ok(diesel::delete(excess).execute(&mut deleting).await?)
        };
        both(delete, counters::move_links(&mut counting, account, -too_many)).await?;
    }
    group_counts::apply(leaving, connection).await?;
    Ok(Some(insertions))
}

/// The outcome of a batch.
struct Outcome {
    /// The count of the account before the batch.
    count: u64,
    /// Whether the account had room for at least one link.
    had_room: bool,
    /// The groups of the batch that exist.
    groups: BTreeSet<IdBytes>,
    inserted: BTreeSet<IdBytes>,
}

/// Inserts a batch of any size; `None` if the account does not exist.
async fn run(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    statement: &NewLinks<'_>,
) -> Result<Option<Outcome>, Failure> {
    let found: Option<(i64, bool, Vec<IdBytes>, Vec<IdBytes>)> =
        statement.get_result(connection).await.optional()?;
    let Some((count, had_room, groups, inserted)) = found else { return Ok(None) };
    let before = count.saturating_sub(signed(inserted.len()));
    let count = RowName::new("accounts", account).count("links_count", before)?;
    let (groups, inserted) = (groups.into_iter().collect(), inserted.into_iter().collect());
    Ok(Some(Outcome { count, had_room, groups, inserted }))
}

/// Two links with one id are a defect. With equal addresses too, the first would count for both.
fn refuse_repeated_ids(links: &[Link]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    match links.iter().find(|link| !seen.insert(link.id().to_bytes())) {
        None => Ok(()),
        Some(link) => Err(Failure::Other(format!("two links of one batch have the id {}", link.id()))),
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::{Id, Landing};
    use signpost_port_contracts::samples;

    use super::*;

    /// With equal addresses, the second link would be skipped silently because of the first.
    #[test]
    fn batch_with_a_repeated_id_is_refused_whatever_the_addresses() {
        let redirect = samples::redirect("a");
        let id = Id::from_bytes(redirect.id.to_bytes());
        let same_id = Landing { id, ..samples::landing("b") };
        for repeated in [redirect.clone().into_any(), same_id.into_any()] {
            let links = [redirect.clone().into_any(), samples::landing("c").into(), repeated];
            assert!(matches!(refuse_repeated_ids(&links), Err(Failure::Other(_))));
            assert!(refuse_repeated_ids(&links[..2]).is_ok());
        }
    }
}
