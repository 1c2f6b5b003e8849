//! The account's own links at taken addresses (D20).

use std::collections::HashMap;

use diesel::sql_types::{Array, Nullable, SmallInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, Address, LinkId};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::{address_columns, link_id};

statement! {
    /// The account's links at some addresses: id, kind, host and slug.
    LinksAt -> (Identifier, SmallInt, Nullable<Text>, Text) {
        account: IdBytes => Identifier,
        hosts: Vec<String> => Array<Text>,
        slugs: Vec<String> => Array<Text>,
    } =
    "SELECT l.id, l.kind, l.host, l.slug FROM unnest($2, $3) AS n (host, slug) JOIN links AS l ON l.host = n.host \
     AND l.slug = n.slug WHERE l.account_id = $1"
}

statement! {
    /// The links of all accounts at some addresses: id, kind, account, host and slug.
    AnyAt -> (Identifier, SmallInt, Identifier, Nullable<Text>, Text) {
        hosts: Vec<String> => Array<Text>,
        slugs: Vec<String> => Array<Text>,
    } =
    "SELECT l.id, l.kind, l.account_id, l.host, l.slug FROM unnest($1, $2) AS n (host, slug) CROSS JOIN LATERAL \
     (SELECT a.id, a.kind, a.account_id, a.host, a.slug FROM links AS a WHERE a.host = n.host AND a.slug = n.slug \
     LIMIT 1) AS l"
}

/// A link at an address: id, kind, account, host and slug.
type OccupantRow = (StoredId, i16, IdBytes, Option<String>, String);

/// The occupied ones of `addresses`, each with the link's id if the account owns it.
pub(crate) async fn occupied(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    addresses: &[Address],
) -> Result<Vec<(Address, Option<LinkId>)>, Failure> {
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let mut named: HashMap<(String, String), &Address> =
        addresses.iter().map(|address| (address_columns(address), address)).collect();
    let (hosts, slugs) = named.keys().cloned().unzip();
    let rows: Vec<OccupantRow> = AnyAt { hosts, slugs }.load(connection).await?;
    let mut found = Vec::with_capacity(rows.len());
    for (id, kind, owner, host, slug) in rows {
        if let Some(address) = host.and_then(|host| named.remove(&(host, slug))) {
            let own = if owner == account.into() { Some(link_id(kind, &id)?.0) } else { None };
            found.push((address.clone(), own));
        }
    }
    Ok(found)
}

/// The account's links that occupy one of `addresses`, each with its address. It sees rows that another transaction has just
/// committed, because each statement takes a new snapshot.
pub(crate) async fn find(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    addresses: &[Address],
) -> Result<Vec<(Address, LinkId)>, Failure> {
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let mut named: HashMap<(String, String), &Address> =
        addresses.iter().map(|address| (address_columns(address), address)).collect();
    let (hosts, slugs) = named.keys().cloned().unzip();
    let statement = LinksAt { account: account.into(), hosts, slugs };
    let rows: Vec<(StoredId, i16, Option<String>, String)> = statement.load(connection).await?;
    let mut found = Vec::with_capacity(rows.len());
    for (id, kind, host, slug) in rows {
        if let Some(address) = host.and_then(|host| named.remove(&(host, slug))) {
            found.push((address.clone(), link_id(kind, &id)?.0));
        }
    }
    Ok(found)
}
