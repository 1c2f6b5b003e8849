//! Changing many links in batches of bounded size, so that no batch blocks others for long.

use diesel::sql_types::{BigInt, Nullable, SmallInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupId, Timestamp};
use signpost_sql_rows::sql_types::Identifier;

use crate::counters;
use crate::failure::Failure;
use crate::group_counts::{self, GroupMoves};
use crate::named_links;
use crate::statement::{both, statement};
use signpost_sql_rows::columns::{IdBytes, signed};
use signpost_sql_rows::link::kind_from;

statement! {
    /// Locks the groups of some of the account's links, in the order of their ids.
    HoldGroupsOfSome -> Identifier {
        account: IdBytes => Identifier,
        at_most: i64 => BigInt,
    } =
    "SELECT g.id FROM groups AS g WHERE g.account_id = $1 AND g.id = ANY (ARRAY(SELECT DISTINCT l.group_id FROM \
     (SELECT s.group_id FROM links AS s WHERE s.account_id = $1 ORDER BY s.kind, s.id LIMIT $2) AS l WHERE \
     l.group_id IS NOT NULL)) ORDER BY g.id FOR NO KEY UPDATE"
}

statement! {
    /// Locks some of the account's links in lock order, and deletes them.
    DeleteSomeLinks -> (SmallInt, Nullable<Identifier>) {
        account: IdBytes => Identifier,
        at_most: i64 => BigInt,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM links AS h WHERE h.account_id = $1 ORDER BY h.kind, h.id LIMIT $2 \
     FOR UPDATE) DELETE FROM links AS l USING held WHERE l.id = held.id RETURNING l.kind, l.group_id"
}

statement! {
    /// Locks a group that is being deleted, so that no link enters or leaves it any more.
    HoldGroup -> Identifier {
        account: IdBytes => Identifier,
        group: IdBytes => Identifier,
    } =
    "SELECT id FROM groups WHERE account_id = $1 AND id = $2 FOR UPDATE"
}

statement! {
    /// Locks some of the links of a group in lock order.
    ///
    /// The condition compares whole rows, and the number of links is part of the SQL text. PostgreSQL estimates the size of
    /// a group from other groups: after an import into one group, it would scan all links for any group.
    HoldLinksOfGroup -> (Identifier, SmallInt) {
        account: IdBytes => Identifier,
        group: IdBytes => Identifier,
        at_most: usize,
    } =
    "SELECT id, kind FROM links WHERE (account_id, group_id) >= ($1, $2) AND (account_id, group_id) <= ($1, $2) AND \
     group_id IS NOT NULL ORDER BY account_id, group_id, kind, id LIMIT $3 FOR NO KEY UPDATE"
}

/// Deletes up to `at_most` of the account's links, and updates the counters of the account and of their groups. It does not
/// validate the rows, so an account with corrupt links can be deleted.
pub(crate) async fn delete(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    at_most: u16,
) -> Result<u16, Failure> {
    let mut moves = GroupMoves::of(account);
    let mut room = usize::from(at_most);
    group_counts::lock_membership(connection, account).await?;
    // Others may delete some of the found links before they are locked. Only an empty result means that no link is left.
    while room > 0 {
        let groups = HoldGroupsOfSome { account: account.into(), at_most: signed(room) };
        let delete = DeleteSomeLinks { account: account.into(), at_most: signed(room) };
        let (mut holding, mut deleting) = (*connection, *connection);
        let hold = async { Ok(groups.load::<IdBytes>(&mut holding).await?) };
        let deleted = async { Ok(delete.load::<(i16, Option<IdBytes>)>(&mut deleting).await?) };
        let (_, deleted) = both(hold, deleted).await?;
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
        both(
            group_counts::apply(moves, &mut of_groups),
            counters::move_links(&mut of_account, account, -signed(deleted)),
        )
        .await?;
    }
    Ok(u16::try_from(deleted).unwrap_or(at_most))
}

/// Takes up to `at_most` links out of a group and updates its counters. The group is locked from here on, so no link can
/// enter it.
pub(crate) async fn ungroup(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    at_most: u16,
    now: Timestamp,
) -> Result<u16, Failure> {
    let group_row = HoldGroup { account: account.into(), group: group.into() };
    let find =
        HoldLinksOfGroup { account: account.into(), group: group.into(), at_most: usize::from(at_most) };
    let (mut locking, mut holding) = (*connection, *connection);
    let hold = async { Ok(group_row.load::<IdBytes>(&mut holding).await?) };
    both(group_counts::lock_membership(&mut locking, account), hold).await?;
    let found: Vec<(IdBytes, i16)> = find.load(connection).await?;
    let mut moves = GroupMoves::of(account);
    let mut ids = Vec::with_capacity(found.len());
    for (id, kind) in found {
        ids.push(id);
        if let Some(kind) = kind_from(kind) {
            moves.leave(group, kind);
        }
    }
    let taken = u16::try_from(ids.len()).unwrap_or(at_most);
    named_links::regroup(connection, moves, None, ids, now).await?;
    Ok(taken)
}
