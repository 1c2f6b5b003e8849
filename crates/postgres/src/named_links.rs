//! Deleting and regrouping links named by id, any number in the same few statements (D30).

use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel::sql_types::{Array, Bool, Nullable, SmallInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, Address, GroupId, Link, LinkId, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::counters;
use crate::failure::{Failure, contended_if_referred_to};
use crate::group_counts::{self, GroupMoves};
use crate::list_range::AmongRows;
use crate::schema::links;
use crate::statement::{both, statement};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId, signed};
use signpost_sql_rows::link::{LinkRow, address_from, kind_column, link_id};

statement! {
    /// Locks the account's links with these ids and kinds in lock order and deletes them. A link's id is only valid with the
    /// prefix of its kind.
    DeleteLinks -> (Identifier, SmallInt, Nullable<Identifier>, Nullable<Text>, Text) {
        account: IdBytes => Identifier,
        ids: Vec<IdBytes> => Array<Identifier>,
        kinds: Vec<i16> => Array<SmallInt>,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM links AS h JOIN unnest($2, $3) AS n (id, kind) ON h.id = n.id AND \
     h.kind = n.kind WHERE h.account_id = $1 ORDER BY h.kind, h.id FOR UPDATE OF h) DELETE FROM links AS l USING \
     held WHERE l.id = held.id RETURNING l.id, l.kind, l.group_id, l.host, l.slug"
}

/// A deleted link: id, kind, group, host and slug.
type DeletedRow = (StoredId, i16, Option<IdBytes>, Option<String>, String);

/// Deleted links.
#[derive(Default)]
pub(crate) struct Deleted {
    pub(crate) ids: Vec<LinkId>,
    /// Their valid addresses.
    pub(crate) addresses: Vec<Address>,
}

/// The links among `ids` that the account owns.
pub(crate) async fn read(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[LinkId],
) -> Result<Vec<Link>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let bytes: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
    let rows: Vec<LinkRow> = links::table
        .filter(links::id.eq_any(bytes))
        .filter(AmongRows(links::account_id.eq(IdBytes::from(account))))
        .select(LinkRow::as_select())
        .load(connection)
        .await?;
    let named: BTreeSet<LinkId> = ids.iter().copied().collect();
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        // A link's id is only valid with the prefix of its kind.
        if named.contains(&row.id()?.0) {
            found.push(row.into_link()?);
        }
    }
    Ok(found)
}

/// Deletes the links among `ids` that the account owns, and updates its counter and those of their groups.
pub(crate) async fn delete(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[LinkId],
) -> Result<Deleted, Failure> {
    if ids.is_empty() {
        return Ok(Deleted::default());
    }
    let statement = DeleteLinks {
        account: account.into(),
        ids: ids.iter().copied().map(IdBytes::from).collect(),
        kinds: ids.iter().map(|id| kind_column(id.kind())).collect(),
    };
    let (mut locking, mut holding, mut deleting) = (*connection, *connection, *connection);
    let delete = async { Ok(statement.load::<DeletedRow>(&mut deleting).await?) };
    let deleted = both(group_counts::hold_groups_of(&mut holding, account, ids), delete);
    let ((), ((), rows)) = both(group_counts::lock_membership(&mut locking, account), deleted).await?;
    let mut deleted = Deleted::default();
    let mut moves = GroupMoves::of(account);
    for (id, kind, group, host, slug) in rows {
        let (id, row) = link_id(kind, &id)?;
        deleted.ids.push(id);
        // A corrupt address could never be visited, so it must not block the deletion.
        deleted.addresses.extend(host.and_then(|host| address_from(&row, host, slug).ok()));
        if let Some(group) = group {
            moves.leave(group, id.kind());
        }
    }
    if !deleted.ids.is_empty() {
        let (mut of_groups, mut of_account) = (*connection, *connection);
        let number = signed(deleted.ids.len());
        both(
            group_counts::apply(moves, &mut of_groups),
            counters::move_links(&mut of_account, account, -number),
        )
        .await?;
    }
    Ok(deleted)
}

statement! {
    /// Locks the account's links with these ids and kinds in lock order, for changes of any column.
    LockLinks -> Identifier {
        account: IdBytes => Identifier,
        ids: Vec<IdBytes> => Array<Identifier>,
        kinds: Vec<i16> => Array<SmallInt>,
    } =
    "SELECT h.id FROM links AS h JOIN unnest($2, $3) AS n (id, kind) ON h.id = n.id AND h.kind = n.kind WHERE \
     h.account_id = $1 ORDER BY h.kind, h.id FOR UPDATE OF h"
}

/// Locks the links among `ids` that the account owns, and reads them. The locking statement would read the tags of before it
/// waited. `expects_move`: takes the membership lock first.
pub(crate) async fn lock(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[LinkId],
    expects_move: bool,
) -> Result<Vec<Link>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let statement = LockLinks {
        account: account.into(),
        ids: ids.iter().copied().map(IdBytes::from).collect(),
        kinds: ids.iter().map(|id| kind_column(id.kind())).collect(),
    };
    let (mut locking, mut holding) = (*connection, *connection);
    let lock = async {
        if expects_move { group_counts::lock_membership(&mut locking, account).await } else { Ok(()) }
    };
    let hold = async { Ok(statement.load::<IdBytes>(&mut holding).await?) };
    both(lock, hold).await?;
    read(connection, account, ids).await
}

/// Locks the links that the account owns, in lock order.
async fn hold(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[LinkId],
) -> Result<(), Failure> {
    if ids.is_empty() {
        return Ok(());
    }
    let bytes: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
    let _: Vec<IdBytes> = links::table
        .filter(links::id.eq_any(bytes))
        .filter(AmongRows(links::account_id.eq(IdBytes::from(account))))
        .order((links::kind, links::id))
        .select(links::id)
        .for_no_key_update()
        .load(connection)
        .await?;
    Ok(())
}

statement! {
    /// Finds a group. Only a holder of the membership lock can delete it; it is locked later, together with the other
    /// groups.
    FindGroup -> Identifier {
        account: IdBytes => Identifier,
        group: IdBytes => Identifier,
    } =
    "SELECT id FROM groups WHERE (account_id, id) = ($1, $2)"
}

/// Takes the membership lock, and locks the links that the account owns; `None` if the group does not exist. The links are read
/// when they are locked: the locking statement would read the tags of before it waited.
async fn held_for_group(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
) -> Result<Option<Vec<Link>>, Failure> {
    let statement = FindGroup { account: account.into(), group: group.into() };
    let (mut locking, mut finding, mut holding) = (*connection, *connection, *connection);
    let find = async { Ok(statement.load::<IdBytes>(&mut finding).await?) };
    let found = both(find, hold(&mut holding, account, ids));
    let ((), (groups, ())) = both(group_counts::lock_membership(&mut locking, account), found).await?;
    if groups.is_empty() {
        return Ok(None);
    }
    Ok(Some(read(connection, account, ids).await?))
}

statement! {
    /// Writes the group of locked links.
    Regroup -> Bool {
        group: Option<IdBytes> => Nullable<Identifier>,
        ids: Vec<IdBytes> => Array<Identifier>,
        now: Instant => Moment,
    } =
    "UPDATE links SET group_id = $1, updated_at = greatest(updated_at, $3), revision = revision + 1 WHERE id = ANY ($2)"
}

/// Updates the counters of the groups and writes the group of locked links, pipelined.
pub(crate) async fn regroup(
    connection: &mut &AsyncPgConnection,
    moves: GroupMoves,
    group: Option<GroupId>,
    ids: Vec<IdBytes>,
    now: Timestamp,
) -> Result<(), Failure> {
    if ids.is_empty() {
        return Ok(());
    }
    let statement = Regroup { group: group.map(IdBytes::from), ids, now: now.into() };
    let (mut of_groups, mut of_links) = (*connection, *connection);
    // A node of the previous version may delete the group without the membership lock.
    let write = async { statement.execute(&mut of_links).await.map_err(contended_if_referred_to) };
    let (is_moved, _) = both(group_counts::apply(moves, &mut of_groups), write).await?;
    if is_moved { Ok(()) } else { Err(Failure::Other("a locked group does not exist".to_owned())) }
}

/// Puts the links among `ids` that the account owns into a group, and updates the counters of the groups that they leave and
/// enter. Returns all of them, also those that were in the group before; `None` if the group does not exist.
pub(crate) async fn assign(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Result<Option<Vec<Link>>, Failure> {
    let Some(mut assigned) = held_for_group(connection, account, group, ids).await? else { return Ok(None) };
    let mut moves = GroupMoves::of(account);
    let mut newcomers = Vec::new();
    for link in &mut assigned {
        let former = link.group_id;
        if former == Some(group) {
            continue;
        }
        link.move_to_group(Some(group), now);
        newcomers.push(link.id().into());
        moves.enter(group, link.kind());
        if let Some(former) = former {
            moves.leave(former, link.kind());
        }
    }
    regroup(connection, moves, Some(group), newcomers, now).await?;
    Ok(Some(assigned))
}

/// Takes the links among `ids` that are in a group out of it, and updates its counters. Returns them; `None` if the group
/// does not exist.
pub(crate) async fn unassign(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Result<Option<Vec<Link>>, Failure> {
    let Some(mut unassigned) = held_for_group(connection, account, group, ids).await? else {
        return Ok(None);
    };
    unassigned.retain(|link| link.group_id == Some(group));
    let mut moves = GroupMoves::of(account);
    for link in &mut unassigned {
        link.move_to_group(None, now);
        moves.leave(group, link.kind());
    }
    let leaving = unassigned.iter().map(|link| link.id().into()).collect();
    regroup(connection, moves, None, leaving, now).await?;
    Ok(Some(unassigned))
}
