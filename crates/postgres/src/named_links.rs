//! The links that a request names by their ids: deleting and regrouping them, any number in the same few statements
//! (D30).

use std::collections::BTreeSet;

use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Array, Bool, Nullable, SmallInt, Text, Timestamptz, Uuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, Address, GroupId, Link, LinkId, Timestamp};

use crate::columns::{IdBytes, Instant, signed};
use crate::counters;
use crate::failure::Failure;
use crate::group_counts::GroupMoves;
use crate::pipeline::both;
use crate::rows::link::{LinkRow, address_from, kind_column, link_id};
use crate::schema::{groups, links};
use crate::statement::statement;

statement! {
    /// Holds the account's links of these ids and kinds in their order, and deletes them. A link has one id, but goes by
    /// it only with the prefix of its kind.
    DeleteLinks -> (Uuid, SmallInt, Nullable<Uuid>, Nullable<Text>, Text) {
        account: IdBytes,
        ids: Vec<IdBytes>,
        kinds: Vec<i16>,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM links AS h JOIN unnest("
    { ids: Array<Uuid> } ", "
    { kinds: Array<SmallInt> }
    ") AS n (id, kind) ON h.id = n.id AND h.kind = n.kind WHERE h.account_id = "
    { account: Uuid }
    " ORDER BY h.kind, h.id FOR UPDATE OF h) DELETE FROM links AS l USING held WHERE l.id = held.id \
     RETURNING l.id, l.kind, l.group_id, l.host, l.slug"
}

/// A link that was deleted: id, kind, group, host and slug.
type DeletedRow = (IdBytes, i16, Option<IdBytes>, Option<String>, String);

/// Links that were deleted.
#[derive(Default)]
pub(crate) struct Deleted {
    pub(crate) ids: Vec<LinkId>,
    /// Those of their addresses that are such.
    pub(crate) addresses: Vec<Address>,
}

/// Deletes those of `ids` that the account has, and moves its count and those of their groups.
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
    let rows: Vec<DeletedRow> = statement.load(connection).await?;
    let mut deleted = Deleted::default();
    let mut moves = GroupMoves::of(account);
    for (id, kind, group, host, slug) in rows {
        let (id, row) = link_id(kind, id)?;
        deleted.ids.push(id);
        // A link whose address is none could never be opened, and must not be kept from being deleted.
        deleted.addresses.extend(host.and_then(|host| address_from(&row, &host, &slug).ok()));
        if let Some(group) = group {
            moves.leave(group, id.kind());
        }
    }
    if !deleted.ids.is_empty() {
        let (mut of_groups, mut of_account) = (*connection, *connection);
        let number = signed(deleted.ids.len());
        both(moves.apply(&mut of_groups), counters::move_links(&mut of_account, account, -number)).await?;
    }
    Ok(deleted)
}

/// Those of the links that the account has, held in their order.
async fn held(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[LinkId],
) -> Result<Vec<Link>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let named: BTreeSet<LinkId> = ids.iter().copied().collect();
    let bytes: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
    let rows = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::id.eq_any(bytes))
        .order((links::kind, links::id))
        .select(LinkRow::as_select())
        .for_no_key_update()
        .load(connection)
        .await?;
    let mut held = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, _) = row.id()?;
        // A link goes by its id only with the prefix of its kind.
        if named.contains(&id) {
            held.push(row.into_link()?);
        }
    }
    Ok(held)
}

statement! {
    /// Writes the group of links that are held, if there is such a group.
    Regroup -> Bool {
        account: IdBytes,
        group: Option<IdBytes>,
        ids: Vec<IdBytes>,
        now: Instant,
    } =
    "UPDATE links SET group_id = "
    { group: Nullable<Uuid> } ", updated_at = greatest(updated_at, "
    { now: Timestamptz } ") WHERE id = ANY ("
    { ids: Array<Uuid> } ") AND ("
    { group: Nullable<Uuid> } " IS NULL OR EXISTS (SELECT FROM groups AS g WHERE g.account_id = "
    { account: Uuid } " AND g.id = "
    { group: Nullable<Uuid> } "))"
}

/// Moves the counts of groups and writes the group of links that are held; neither if one of the groups is not there, which
/// it says. Both go out together: after the first, the groups are held.
async fn regroup(
    connection: &mut &AsyncPgConnection,
    moves: GroupMoves,
    statement: Regroup,
) -> Result<bool, Failure> {
    let (mut of_groups, mut of_links) = (*connection, *connection);
    let write = async { Ok(statement.execute(&mut of_links).await?) };
    let (is_moved, _) = both(moves.apply(&mut of_groups), write).await?;
    Ok(is_moved)
}

async fn group_exists(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: GroupId,
) -> Result<bool, Failure> {
    let group = groups::table.find((IdBytes::from(account), IdBytes::from(id)));
    Ok(diesel::select(exists(group)).get_result(connection).await?)
}

/// Puts those of `ids` that the account has into a group, and moves the counts of the groups that they leave and enter.
/// Returns all of them, also those that were in it already; `None` if there is no such group.
pub(crate) async fn assign(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Result<Option<Vec<Link>>, Failure> {
    let mut assigned = held(connection, account, ids).await?;
    let mut moves = GroupMoves::of(account);
    let mut newcomers = Vec::new();
    for link in &mut assigned {
        let former = link.group_id();
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
    if newcomers.is_empty() {
        return Ok(group_exists(connection, account, group).await?.then_some(assigned));
    }
    // The groups that they leave are there as long as the links are held, so it is this one that is not.
    let statement =
        Regroup { account: account.into(), group: Some(group.into()), ids: newcomers, now: now.into() };
    Ok(regroup(connection, moves, statement).await?.then_some(assigned))
}

/// Takes those of `ids` that are in a group out of it, and moves its counts. Returns them; `None` if there is no such
/// group.
pub(crate) async fn unassign(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Result<Option<Vec<Link>>, Failure> {
    let mut unassigned = held(connection, account, ids).await?;
    unassigned.retain(|link| link.group_id() == Some(group));
    if unassigned.is_empty() {
        return Ok(group_exists(connection, account, group).await?.then_some(unassigned));
    }
    let mut moves = GroupMoves::of(account);
    for link in &mut unassigned {
        link.move_to_group(None, now);
        moves.leave(group, link.kind());
    }
    let ids = unassigned.iter().map(|link| link.id().into()).collect();
    let statement = Regroup { account: account.into(), group: None, ids, now: now.into() };
    Ok(regroup(connection, moves, statement).await?.then_some(unassigned))
}
