//! Inserting any number of links in the same few statements (D30).
//!
//! The outcome is the same as if the links were inserted one after the other. One statement locks their groups and counts
//! the links there. It inserts all of them as if none were refused, and counts them in the account. Then the links beyond
//! the account's limit are taken back. A full account is only locked, so it never inserts a batch that must be taken back
//! whole.

use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel::sql_types::{Array, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::Insertion;
use signpost_domain::{AccountId, ExternalId, Link, LinkId};
use signpost_sql_rows::sql_types::Identifier;

use crate::click_credits;
use crate::counters;
use crate::external_ids;
use crate::failure::Failure;
use crate::group_counts::{self, GroupMoves};
use crate::link_tags;
use crate::rows::written_links::NewLinks;
use crate::schema::links;
use crate::statement::{both, statement};
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, signed};
use signpost_sql_rows::link_batch::{ExistingLink, Taken, refuse_repeated_ids, repeated_external_ids};

/// Inserts each link that is not refused, and updates the counters of the account and of the groups. Returns the outcome of
/// each link, or `None` if the account does not exist.
pub(crate) async fn insert(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    links: &[Link],
    links_limit: u64,
) -> Result<Option<Vec<Insertion>>, Failure> {
    refuse_repeated_ids(links)?;
    let repeated = repeated_external_ids(links);
    let candidates: Vec<&Link> = links.iter().filter(|link| !repeated.contains(&link.id())).collect();
    // Rows are inserted in the order of their addresses, in which external ids have any order. So two batches might each hold
    // what the other waits for.
    if links.len() > 1 && links.iter().any(|link| link.external_id.is_some()) {
        group_counts::lock_membership(connection, account).await?;
    }
    let statement = NewLinks::of(account, &candidates, links_limit);
    let Some(mut outcome) = run(connection, account, &statement).await? else { return Ok(None) };
    if !outcome.had_room && outcome.count < links_limit {
        // The account was full, and the transaction that held it made room. It is locked here now, so the second run is
        // final.
        let Some(again) = run(connection, account, &statement).await? else { return Ok(None) };
        outcome = again;
    }
    let Outcome { count, had_room, groups, inserted } = outcome;
    let has_its_group = |link: &Link| link.group_id.is_none_or(|group| groups.contains(&group.into()));

    let skipped = candidates
        .iter()
        .copied()
        .filter(|link| had_room && has_its_group(link) && !inserted.contains(&link.id().into()));
    let skipped: Vec<&Link> = skipped.collect();
    let taken = taken_by_others(connection, account, &repeated, &skipped).await?;
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
            taken.decision(link)
        };
        let is_counted_in_group = had_room && !repeated.contains(&link.id());
        match (insertion, link.group_id) {
            (
                Insertion::LimitReached
                | Insertion::ExternalIdTaken
                | Insertion::IdTaken
                | Insertion::AddressTaken,
                Some(group),
            ) if is_counted_in_group => leaving.leave(group, link.kind()),
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
    let inserted = links.iter().zip(&insertions).filter(|(_, insertion)| **insertion == Insertion::Done);
    let inserted = inserted.map(|(link, _)| link);
    link_tags::write(connection, account, inserted.clone()).await?;
    click_credits::write(connection, inserted).await?;
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

statement! {
    /// The links with some ids: id, host and slug.
    WithIds -> (Identifier, Nullable<Text>, Text) {
        ids: Vec<IdBytes> => Array<Identifier>,
    } =
    "SELECT l.id, l.host, l.slug FROM links AS l WHERE l.id = ANY ($1)"
}

/// What other links have of the links that were not inserted.
async fn taken_by_others<'a>(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    repeated: &'a BTreeSet<LinkId>,
    skipped: &[&Link],
) -> Result<Taken<'a>, Failure> {
    if skipped.is_empty() {
        return Ok(Taken::of(repeated, skipped, &[], Vec::new()));
    }
    let ids = skipped.iter().map(|link| link.id().into()).collect();
    let external_ids: Vec<ExternalId> = skipped.iter().filter_map(|link| link.external_id.clone()).collect();
    let (mut of_ids, mut of_external_ids) = (*connection, *connection);
    let existing = async { Ok(WithIds { ids }.load::<ExistingLink>(&mut of_ids).await?) };
    let named = external_ids::find(&mut of_external_ids, account, &external_ids);
    let (existing, named) = both(existing, named).await?;
    Ok(Taken::of(repeated, skipped, &existing, named))
}
