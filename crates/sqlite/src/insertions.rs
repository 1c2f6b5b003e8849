//! Inserting any number of links in the same few statements (D30).
//!
//! The outcome is the same as if the links were inserted one after the other. In fact all are inserted at once, in order,
//! and those beyond the limit are taken back.

use std::collections::BTreeSet;

use diesel::prelude::*;
use signpost_app::ports::Insertion;
use signpost_domain::{AccountId, ExternalId, GroupId, Link, LinkId};

use crate::click_credits;
use crate::counters;
use crate::external_ids;
use crate::failure::Failure;
use crate::group_counts::{self, GroupMoves};
use crate::schema::{accounts, groups, links};
use crate::sql_errors::is_taken;
use crate::tags;
use signpost_sql_rows::cell::{RowName, own_id};
use signpost_sql_rows::columns::{IdBytes, StoredId, signed};
use signpost_sql_rows::link::NewLink;
use signpost_sql_rows::link_batch::{ExistingLink, Taken, refuse_repeated_ids, repeated_external_ids};

/// The 16 bytes of an id, which both kinds of links share.
type Bytes = [u8; 16];

/// The maximum number of links in one statement: SQLite allows 32,766 bind values, and a link has 23. Large statements pay
/// off, because the text index flushes its buffer to the file at the start of each statement.
const MOST_IN_A_STATEMENT: usize = 1_000;

/// Inserts each link that is not refused, and updates the counters of the account and of the groups. Returns the outcome of
/// each link, or `None` if the account does not exist.
pub(crate) fn insert(
    connection: &mut SqliteConnection,
    account: AccountId,
    links: &[Link],
    links_limit: u64,
) -> Result<Option<Vec<Insertion>>, Failure> {
    refuse_repeated_ids(links)?;
    let Some((count, groups)) = count_and_groups(connection, account, links)? else { return Ok(None) };
    let mut room = links_limit.saturating_sub(count);
    let has_its_group = |link: &Link| link.group_id.is_none_or(|group| groups.contains(&group));
    let repeated = repeated_external_ids(links);
    let candidates: Vec<&Link> =
        links.iter().filter(|link| has_its_group(link) && !repeated.contains(&link.id())).collect();
    // Without room no link would stay.
    let (inserted, skips) = if room == 0 {
        (BTreeSet::new(), Skips::TakenAddresses)
    } else {
        insert_all(connection, account, &candidates)?
    };
    let skipped = candidates.iter().filter(|link| !inserted.contains(&link.id().to_bytes()));
    let skipped: Vec<&Link> = match skips {
        Skips::AllTaken => skipped.copied().collect(),
        Skips::TakenAddresses => Vec::new(),
    };
    let taken = taken_by_others(connection, account, &repeated, &skipped)?;
    let mut insertions = Vec::with_capacity(links.len());
    let mut done = 0_usize;
    let mut moves = GroupMoves::of(account);
    let mut excess = Vec::new();
    for link in links {
        let id = link.id().to_bytes();
        let insertion = if !has_its_group(link) {
            Insertion::GroupMissing
        } else if room == 0 {
            if inserted.contains(&id) {
                excess.push(IdBytes::from(link.id()));
            }
            Insertion::LimitReached
        } else if inserted.contains(&id) {
            room -= 1;
            done += 1;
            if let Some(group) = link.group_id {
                moves.enter(IdBytes::from(group), link.kind());
            }
            Insertion::Done
        } else {
            taken.decision(link)
        };
        insertions.push(insertion);
    }
    if !excess.is_empty() {
        diesel::delete(links::table.filter(links::id.eq_any(excess))).execute(connection)?;
    }
    let inserted = links.iter().zip(&insertions).filter(|(_, insertion)| **insertion == Insertion::Done);
    let inserted = inserted.map(|(link, _)| link);
    tags::write(connection, account, inserted.clone())?;
    click_credits::write(connection, inserted)?;
    counters::move_links(connection, account, signed(done))?;
    group_counts::apply(moves, connection)?;
    Ok(Some(insertions))
}

/// What other links have of the links that were not inserted.
fn taken_by_others<'a>(
    connection: &mut SqliteConnection,
    account: AccountId,
    repeated: &'a BTreeSet<LinkId>,
    skipped: &[&Link],
) -> Result<Taken<'a>, Failure> {
    if skipped.is_empty() {
        return Ok(Taken::of(repeated, skipped, &[], Vec::new()));
    }
    let ids = skipped.iter().map(|link| IdBytes::from(link.id()));
    let existing: Vec<ExistingLink> = links::table
        .filter(links::id.eq_any(ids))
        .select((links::id, links::host, links::slug))
        .load(connection)?;
    let external_ids: Vec<ExternalId> = skipped.iter().filter_map(|link| link.external_id.clone()).collect();
    let named = external_ids::find(connection, account, &external_ids)?;
    Ok(Taken::of(repeated, skipped, &existing, named))
}

/// How many links the account has, and which of the groups of these links exist; `None` if the account does not exist. One
/// statement, because a batch may run twice (D30).
fn count_and_groups(
    connection: &mut SqliteConnection,
    account: AccountId,
    links: &[Link],
) -> Result<Option<(u64, BTreeSet<GroupId>)>, Failure> {
    let named: BTreeSet<GroupId> = links.iter().filter_map(|link| link.group_id).collect();
    if named.is_empty() {
        return Ok(counters::links(connection, account)?.map(|count| (count, named)));
    }
    let its_groups =
        groups::account_id.eq(accounts::id).and(groups::id.eq_any(named.into_iter().map(IdBytes::from)));
    let found: Vec<(i64, Option<StoredId>)> = accounts::table
        .left_join(groups::table.on(its_groups))
        .filter(accounts::id.eq(IdBytes::from(account)))
        .select((accounts::links_count, groups::id.nullable()))
        .load(connection)?;
    let Some((count, _)) = found.first() else { return Ok(None) };
    let count = RowName::new("accounts", account).count("links_count", *count)?;
    let ids = found.iter().filter_map(|(_, id)| id.as_ref());
    let groups = ids.map(|id| own_id("groups", id).map(|(id, _)| id)).collect::<Result<_, _>>()?;
    Ok(Some((count, groups)))
}

/// Which links an insertion skips, instead of failing.
#[derive(Debug, Clone, Copy)]
enum Skips {
    /// Those whose address is taken. Another link with the id is an error of SQLite.
    TakenAddresses,
    /// Those whose address, external id or id is taken; a statement can name only one of these. Which it is costs another statement,
    /// so this is for links with external ids, and for imported ones whose ids are not new.
    AllTaken,
}

/// Inserts all links that are not skipped. Returns their ids, and which links were skipped.
fn insert_all(
    connection: &mut SqliteConnection,
    account: AccountId,
    links: &[&Link],
) -> Result<(BTreeSet<Bytes>, Skips), Failure> {
    let has_external_ids = links.iter().any(|link| link.external_id.is_some());
    let mut skips = if has_external_ids { Skips::AllTaken } else { Skips::TakenAddresses };
    let mut inserted = BTreeSet::new();
    for part in links.chunks(MOST_IN_A_STATEMENT) {
        let ids = match insert_part(connection, account, part, skips) {
            // SQLite has undone the statement.
            Err(Failure::Sql(error)) if is_taken(&error, "links.id") => {
                skips = Skips::AllTaken;
                insert_part(connection, account, part, skips)?
            }
            outcome => outcome?,
        };
        inserted.extend(ids);
    }
    Ok((inserted, skips))
}

/// Inserts the links with one statement, and returns the ids of those that were not skipped.
fn insert_part(
    connection: &mut SqliteConnection,
    account: AccountId,
    part: &[&Link],
    skips: Skips,
) -> Result<Vec<Bytes>, Failure> {
    let address = (links::host, links::slug);
    // The statement for one link stays prepared; those for several links differ in length.
    if let [link] = part {
        let insertion = diesel::insert_into(links::table).values(NewLink::new(account, link));
        let rows = match skips {
            Skips::TakenAddresses => insertion.on_conflict(address).do_nothing().execute(connection)?,
            Skips::AllTaken => insertion.on_conflict_do_nothing().execute(connection)?,
        };
        return Ok((rows > 0).then(|| link.id().to_bytes()).into_iter().collect());
    }
    let rows: Vec<NewLink<'_>> = part.iter().map(|link| NewLink::new(account, link)).collect();
    let insertion = diesel::insert_into(links::table).values(rows);
    let ids: Vec<StoredId> = match skips {
        Skips::TakenAddresses => {
            insertion.on_conflict(address).do_nothing().returning(links::id).get_results(connection)?
        }
        Skips::AllTaken => insertion.on_conflict_do_nothing().returning(links::id).get_results(connection)?,
    };
    Ok(ids.iter().map(|id| id.bytes("links")).collect::<Result<_, _>>()?)
}
