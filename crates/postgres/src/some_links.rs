//! Changing many links a bounded number at a time, so that none of it holds others for long.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt, Timestamptz, Uuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupId, Timestamp};

use crate::columns::{IdBytes, Instant, signed};
use crate::counters;
use crate::failure::Failure;
use crate::group_counts::GroupMoves;
use crate::groups::later_of;
use crate::pipeline::both;
use crate::rows::link::kind_from;
use crate::schema::links;
use crate::statement::statement;

statement! {
    /// Holds some of the account's links in their order, and deletes them.
    DeleteSomeLinks -> (SmallInt, Nullable<Uuid>) {
        account: IdBytes,
        at_most: i64,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM links AS h WHERE h.account_id = "
    { account: Uuid } " ORDER BY h.kind, h.id LIMIT "
    { at_most: BigInt } " FOR UPDATE) DELETE FROM links AS l USING held WHERE l.id = held.id \
     RETURNING l.kind, l.group_id"
}

statement! {
    /// Holds all the links of a group in their order, and takes them out of it.
    EmptyGroup -> Bool {
        account: IdBytes,
        group: IdBytes,
        now: Instant,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM links AS h WHERE h.account_id = "
    { account: Uuid } " AND h.group_id = "
    { group: Uuid } " ORDER BY h.kind, h.id FOR NO KEY UPDATE) \
     UPDATE links AS l SET group_id = NULL, updated_at = greatest(l.updated_at, "
    { now: Timestamptz } ") FROM held WHERE l.id = held.id"
}

/// Deletes up to `at_most` of the account's links and moves the counts of the account and of their groups. It does not
/// judge the rows, so that an account can be deleted whatever is wrong with it.
pub(crate) async fn delete(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    at_most: u16,
) -> Result<u16, Failure> {
    let mut moves = GroupMoves::of(account);
    let mut room = usize::from(at_most);
    // A few that were found may be deleted by others before they can be held. Only if none is found, none is left.
    while room > 0 {
        let statement = DeleteSomeLinks { account: account.into(), at_most: signed(room) };
        let deleted: Vec<(i16, Option<IdBytes>)> = statement.load(connection).await?;
        if deleted.is_empty() {
            break;
        }
        room = room.saturating_sub(deleted.len());
        for (kind, group) in deleted {
            if let (Some(group), Some(kind)) = (group, kind_from(kind)) {
                moves.leave(group, kind);
            }
        }
    }
    let deleted = usize::from(at_most) - room;
    if deleted > 0 {
        let (mut of_groups, mut of_account) = (*connection, *connection);
        both(moves.apply(&mut of_groups), counters::move_links(&mut of_account, account, -signed(deleted)))
            .await?;
    }
    Ok(u16::try_from(deleted).unwrap_or(at_most))
}

/// Takes all links out of a group that is about to be deleted: its counts go with it.
pub(crate) async fn empty_group(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    now: Timestamp,
) -> Result<(), Failure> {
    let statement = EmptyGroup { account: account.into(), group: group.into(), now: now.into() };
    statement.execute(connection).await?;
    Ok(())
}

/// Takes up to `at_most` links out of a group and moves its counts.
pub(crate) async fn ungroup(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    at_most: u16,
    now: Timestamp,
) -> Result<u16, Failure> {
    let mut moves = GroupMoves::of(account);
    let mut room = usize::from(at_most);
    while room > 0 {
        let found: Vec<(IdBytes, i16)> = links::table
            .filter(links::account_id.eq(IdBytes::from(account)))
            .filter(links::group_id.eq(IdBytes::from(group)))
            .order((links::kind, links::id))
            .select((links::id, links::kind))
            .limit(signed(room))
            .for_no_key_update()
            .load(connection)
            .await?;
        if found.is_empty() {
            break;
        }
        room = room.saturating_sub(found.len());
        let mut ids = Vec::with_capacity(found.len());
        for (id, kind) in found {
            ids.push(id);
            if let Some(kind) = kind_from(kind) {
                moves.leave(group, kind);
            }
        }
        diesel::update(links::table.filter(links::id.eq_any(ids)))
            .set((
                links::group_id.eq(None::<IdBytes>),
                links::updated_at.eq(later_of(links::updated_at, Instant::from(now))),
            ))
            .execute(connection)
            .await?;
    }
    moves.apply(connection).await?;
    Ok(u16::try_from(usize::from(at_most) - room).unwrap_or(at_most))
}
