//! Deleting and regrouping links named by id, any number in the same few statements (D30).

use diesel::dsl::exists;
use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Binary, Bool, SmallInt};
use diesel::sqlite::Sqlite;
use signpost_domain::{AccountId, Address, GroupId, Link, LinkId, Timestamp};

use crate::columns::later_of;
use crate::counters;
use crate::failure::Failure;
use crate::group_counts::{self, GroupMoves};
use crate::schema::{groups, links};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId, signed};
use signpost_sql_rows::link::{LinkRow, address_from, kind_column, link_id};

/// A deleted link: id, kind, group, host and slug.
type DeletedRow = (StoredId, i16, Option<StoredId>, Option<String>, String);

/// Deleted links.
#[derive(Default)]
pub(crate) struct Deleted {
    pub(crate) ids: Vec<LinkId>,
    /// Their valid addresses.
    pub(crate) addresses: Vec<Address>,
}

/// The links among `ids` that the account owns.
pub(crate) fn read(
    connection: &mut SqliteConnection,
    account: AccountId,
    ids: &[LinkId],
) -> Result<Vec<Link>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let of_account = links::table.filter(links::account_id.eq(IdBytes::from(account)));
    let rows = of_account.filter(IsOneOf::these(ids)).select(LinkRow::as_select()).load(connection)?;
    Ok(rows.into_iter().map(LinkRow::into_link).collect::<Result<_, _>>()?)
}

/// Deletes the links among `ids` that the account owns, and updates its counter and those of their groups.
pub(crate) fn delete(
    connection: &mut SqliteConnection,
    account: AccountId,
    ids: &[LinkId],
) -> Result<Deleted, Failure> {
    if ids.is_empty() {
        return Ok(Deleted::default());
    }
    let named = links::table.filter(links::account_id.eq(IdBytes::from(account))).filter(IsOneOf::these(ids));
    let rows: Vec<DeletedRow> = diesel::delete(named)
        .returning((links::id, links::kind, links::group_id, links::host, links::slug))
        .get_results(connection)?;
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
    counters::move_links(connection, account, -signed(deleted.ids.len()))?;
    group_counts::apply(moves, connection)?;
    Ok(deleted)
}

/// Puts the links among `ids` that the account owns into a group, and updates the counters of the groups that they leave and
/// enter. Returns all of them, also those that were in the group before; `None` if the group does not exist.
pub(crate) fn assign(
    connection: &mut SqliteConnection,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Result<Option<Vec<Link>>, Failure> {
    if !group_exists(connection, account, group)? {
        return Ok(None);
    }
    if ids.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let of_account = links::table.filter(links::account_id.eq(IdBytes::from(account)));
    let mut assigned = read(connection, account, ids)?;
    let mut moves = GroupMoves::of(account);
    let mut newcomers = Vec::new();
    for link in &mut assigned {
        let former = link.group_id;
        if former == Some(group) {
            continue;
        }
        link.move_to_group(Some(group), now);
        newcomers.push(link.id());
        moves.enter(IdBytes::from(group), link.kind());
        if let Some(former) = former {
            moves.leave(IdBytes::from(former), link.kind());
        }
    }
    if !newcomers.is_empty() {
        diesel::update(of_account.filter(IsOneOf::these(&newcomers)))
            .set((
                links::group_id.eq(IdBytes::from(group)),
                links::updated_at.eq(later_of(links::updated_at, Instant::from(now))),
                links::revision.eq(links::revision + 1),
            ))
            .execute(connection)?;
        group_counts::apply(moves, connection)?;
    }
    Ok(Some(assigned))
}

/// Takes the links among `ids` that are in a group out of it, and updates its counters. Returns them; `None` if the group
/// does not exist.
pub(crate) fn unassign(
    connection: &mut SqliteConnection,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Result<Option<Vec<Link>>, Failure> {
    if !group_exists(connection, account, group)? {
        return Ok(None);
    }
    if ids.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let members = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::group_id.eq(IdBytes::from(group)))
        .filter(IsOneOf::these(ids));
    let rows = diesel::update(members)
        .set((
            links::group_id.eq(None::<IdBytes>),
            links::updated_at.eq(later_of(links::updated_at, Instant::from(now))),
            links::revision.eq(links::revision + 1),
        ))
        .returning(LinkRow::as_returning())
        .get_results(connection)?;
    let unassigned = rows.into_iter().map(LinkRow::into_link).collect::<Result<Vec<_>, _>>()?;
    let mut moves = GroupMoves::of(account);
    for link in &unassigned {
        moves.leave(IdBytes::from(group), link.kind());
    }
    group_counts::apply(moves, connection)?;
    Ok(Some(unassigned))
}

/// The condition that a link is in a non-empty list. A link's id is only valid with the prefix of its kind.
///
/// Pairs, because SQLite finds them in the indexes of the lists. For `id IN (…)`, it would expect more links than the
/// account has, and read all of the account's links.
pub(crate) struct IsOneOf(Vec<(i16, IdBytes)>);

impl IsOneOf {
    pub(crate) fn these(ids: &[LinkId]) -> Self {
        Self(ids.iter().map(|id| (kind_column(id.kind()), IdBytes::from(*id))).collect())
    }
}

impl Expression for IsOneOf {
    type SqlType = Bool;
}

impl ValidGrouping<()> for IsOneOf {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for IsOneOf {}

impl QueryFragment<Sqlite> for IsOneOf {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        // A statement for one link is worth keeping; those for many differ in length.
        if self.0.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        out.push_sql("(links.kind, links.id) IN (VALUES ");
        for (number, (kind, id)) in self.0.iter().enumerate() {
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<SmallInt, _>(kind)?;
            out.push_sql(", ");
            out.push_bind_param::<Binary, _>(id)?;
            out.push_sql(")");
        }
        out.push_sql(")");
        Ok(())
    }
}

impl QueryId for IsOneOf {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

/// Whether the account has the group.
fn group_exists(connection: &mut SqliteConnection, account: AccountId, id: GroupId) -> QueryResult<bool> {
    diesel::select(exists(groups::table.find((IdBytes::from(account), IdBytes::from(id)))))
        .get_result(connection)
}
