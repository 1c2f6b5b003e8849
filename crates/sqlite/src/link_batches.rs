//! Changing many links in batches of bounded size, so that no batch occupies the writer for long.

use std::collections::BTreeSet;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use signpost_app::ports::LinksOf;
use signpost_domain::{AccountId, GroupId, Timestamp};

use crate::columns::later_of;
use crate::counters;
use crate::failure::Failure;
use crate::group_counts::{self, GroupMoves};
use crate::schema::links;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId, signed};
use signpost_sql_rows::link::{TABLE, kind_from};

/// Deletes up to `at_most` of the account's links, and updates the counters of the account and of their groups. It does not
/// validate the rows, so an account with corrupt links can be deleted.
pub(crate) fn delete(
    connection: &mut SqliteConnection,
    account: AccountId,
    at_most: u16,
) -> Result<u16, Failure> {
    let found: Vec<(StoredId, i16, Option<StoredId>)> = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .select((links::id, links::kind, links::group_id))
        .limit(i64::from(at_most))
        .load(connection)?;
    if found.is_empty() {
        return Ok(0);
    }
    let mut moves = GroupMoves::of(account);
    let mut ids = Vec::with_capacity(found.len());
    for (id, kind, group) in found {
        ids.push(id);
        if let (Some(group), Some(kind)) = (group, kind_from(kind)) {
            moves.leave(group, kind);
        }
    }
    let deleted = diesel::delete(links::table.filter(links::id.eq_any(ids))).execute(connection)?;
    counters::move_links(connection, account, -signed(deleted))?;
    group_counts::apply(moves, connection)?;
    Ok(u16::try_from(deleted).unwrap_or(at_most))
}

/// Takes up to `at_most` links out of a group and updates its counters.
pub(crate) fn ungroup(
    connection: &mut SqliteConnection,
    account: AccountId,
    group: GroupId,
    at_most: u16,
    now: Timestamp,
) -> Result<u16, Failure> {
    let found: Vec<(StoredId, i16)> = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::group_id.eq(IdBytes::from(group)))
        .select((links::id, links::kind))
        .limit(i64::from(at_most))
        .load(connection)?;
    if found.is_empty() {
        return Ok(0);
    }
    let mut moves = GroupMoves::of(account);
    let mut ids = Vec::with_capacity(found.len());
    for (id, kind) in found {
        ids.push(id);
        if let Some(kind) = kind_from(kind) {
            moves.leave(IdBytes::from(group), kind);
        }
    }
    let taken = diesel::update(links::table.filter(links::id.eq_any(ids)))
        .set((
            links::group_id.eq(None::<IdBytes>),
            links::updated_at.eq(later_of(links::updated_at, Instant::from(now))),
            links::revision.eq(links::revision + 1),
        ))
        .execute(connection)?;
    group_counts::apply(moves, connection)?;
    Ok(u16::try_from(taken).unwrap_or(at_most))
}

/// Links that lost their address.
#[derive(Default)]
pub(crate) struct Lost {
    pub(crate) number: u16,
    /// The accounts of the links.
    pub(crate) accounts: BTreeSet<AccountId>,
}

/// Takes the addresses of up to `at_most` links on a host away, even if their rows are corrupt.
pub(crate) fn lose(
    connection: &mut SqliteConnection,
    whose: LinksOf,
    host: &str,
    at_most: u16,
    now: Timestamp,
) -> Result<Lost, Failure> {
    let on_host = |room: usize| {
        links::table
            .filter(links::host.eq(host))
            // Written as a literal: only then SQLite recognizes the condition of the partial index.
            .filter(sql::<Bool>("links.host <> ''"))
            .select((links::id, links::account_id))
            .limit(signed(room))
            .into_boxed()
    };
    let room = usize::from(at_most);
    let found: Vec<(StoredId, StoredId)> = match whose {
        LinksOf::Account(account) => {
            on_host(room).filter(links::account_id.eq(IdBytes::from(account))).load(connection)?
        }
        // Two ranges, so that the number of that account's own links does not matter.
        LinksOf::AllBut(account) => {
            let account = IdBytes::from(account);
            let mut below = on_host(room).filter(links::account_id.lt(account)).load(connection)?;
            let room = room.saturating_sub(below.len());
            below.extend(
                on_host(room)
                    .filter(links::account_id.gt(account))
                    .load::<(StoredId, StoredId)>(connection)?,
            );
            below
        }
    };
    if found.is_empty() {
        return Ok(Lost::default());
    }
    let mut accounts = BTreeSet::new();
    let mut ids = Vec::with_capacity(found.len());
    for (id, account) in found {
        accounts.insert(RowName::of_bytes(TABLE, id.as_slice()).id("account_id", &account)?);
        ids.push(id);
    }
    let lost = diesel::update(links::table.filter(links::id.eq_any(ids)))
        .set((
            links::host.eq(None::<String>),
            links::updated_at.eq(later_of(links::updated_at, Instant::from(now))),
            links::revision.eq(links::revision + 1),
        ))
        .execute(connection)?;
    Ok(Lost { number: u16::try_from(lost).unwrap_or(at_most), accounts })
}
