//! The account's own links at taken addresses (D20).

use std::collections::{BTreeSet, HashMap};

use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Binary, Bool, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::{AccountId, Address, LinkId};

use crate::failure::Failure;
use crate::schema::links;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::{address_columns, link_id};

/// The account's links that occupy one of `addresses`, each with its address.
pub(crate) fn find(
    connection: &mut SqliteConnection,
    account: AccountId,
    addresses: &[Address],
) -> Result<Vec<(Address, LinkId)>, Failure> {
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let mut named: HashMap<(String, String), &Address> =
        addresses.iter().map(|address| (address_columns(address), address)).collect();
    let places = named.keys().cloned().collect();
    let condition = AtOneOf { account: Some(account.into()), places };
    let rows: Vec<(StoredId, i16, Option<String>, String)> = links::table
        .filter(condition)
        .select((links::id, links::kind, links::host, links::slug))
        .load(connection)?;
    let mut found = Vec::with_capacity(rows.len());
    for (id, kind, host, slug) in rows {
        if let Some(address) = host.and_then(|host| named.remove(&(host, slug))) {
            found.push((address.clone(), link_id(kind, &id)?.0));
        }
    }
    Ok(found)
}

/// The occupied ones of `addresses`, each with the link's id if the account owns it. One statement for each address, because
/// it stays prepared: that costs less than one long statement, which SQLite would parse each time.
pub(crate) fn occupied(
    connection: &mut SqliteConnection,
    account: AccountId,
    addresses: Vec<Address>,
) -> Result<Vec<(Address, Option<LinkId>)>, Failure> {
    let owner = StoredId::from(IdBytes::from(account));
    let mut occupied = Vec::new();
    let addresses: BTreeSet<Address> = addresses.into_iter().collect();
    connection.transaction(|connection| {
        for address in addresses {
            let (host, slug) = address_columns(&address);
            let found: Option<(StoredId, i16, StoredId)> = links::table
                .filter(links::host.eq(host))
                .filter(links::slug.eq(slug))
                .select((links::id, links::kind, links::account_id))
                .first(connection)
                .optional()?;
            if let Some((id, kind, account)) = found {
                let own = if account == owner { Some(link_id(kind, &id)?.0) } else { None };
                occupied.push((address, own));
            }
        }
        Ok(occupied)
    })
}

/// The same in one statement, for a unit of work, whose statements are few (D123).
pub(crate) fn occupied_now(
    connection: &mut SqliteConnection,
    account: AccountId,
    addresses: &[Address],
) -> Result<Vec<(Address, Option<LinkId>)>, Failure> {
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let owner = StoredId::from(IdBytes::from(account));
    let mut named: HashMap<(String, String), &Address> =
        addresses.iter().map(|address| (address_columns(address), address)).collect();
    let places = named.keys().cloned().collect();
    let rows: Vec<(StoredId, i16, StoredId, Option<String>, String)> = links::table
        .filter(AtOneOf { account: None, places })
        .select((links::id, links::kind, links::account_id, links::host, links::slug))
        .load(connection)?;
    let mut occupied = Vec::with_capacity(rows.len());
    for (id, kind, account, host, slug) in rows {
        if let Some(address) = host.and_then(|host| named.remove(&(host, slug))) {
            let own = if account == owner { Some(link_id(kind, &id)?.0) } else { None };
            occupied.push((address.clone(), own));
        }
    }
    Ok(occupied)
}

/// The condition that a link has one of a non-empty list of addresses, and belongs to the account, if there is one.
///
/// The plus keeps SQLite from using the indexes of the account's lists: it would read all links of the account.
struct AtOneOf {
    account: Option<IdBytes>,
    /// Host and slug.
    places: Vec<(String, String)>,
}

impl Expression for AtOneOf {
    type SqlType = Bool;
}

impl ValidGrouping<()> for AtOneOf {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for AtOneOf {}

impl QueryFragment<Sqlite> for AtOneOf {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        // A statement for one address is worth keeping; those for many differ in length.
        if self.places.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        if let Some(account) = &self.account {
            out.push_sql("+links.account_id = ");
            out.push_bind_param::<Binary, _>(account)?;
            out.push_sql(" AND ");
        }
        out.push_sql("(links.host, links.slug) IN (VALUES ");
        for (number, (host, slug)) in self.places.iter().enumerate() {
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<Text, _>(host)?;
            out.push_sql(", ");
            out.push_bind_param::<Text, _>(slug)?;
            out.push_sql(")");
        }
        out.push_sql(")");
        Ok(())
    }
}

impl QueryId for AtOneOf {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}
