//! The content of landing pages.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Binary, Nullable, SmallInt, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::{AccountId, Address, LandingId, LandingPage, LinkId, LinkKind, PageContent};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::named_links::IsOneOf;
use crate::schema::links;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::{LinkRow, TABLE, address_from, kind_column};
use signpost_sql_rows::page::{landing_row, page_column, page_from};

/// A landing page of the account with its content.
pub(crate) fn landing_page(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: LandingId,
) -> Result<Option<LandingPage>, Failure> {
    let found = links::table
        .find(IdBytes::from(id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(kind_column(LinkKind::Landing)))
        .select((LinkRow::as_select(), links::page))
        .first::<(LinkRow, Option<String>)>(connection)
        .optional()?;
    let Some((link, page)) = found else { return Ok(None) };
    Ok(Some(link.into_landing()?.with_content(page_from(&landing_row(id), page.as_deref())?)))
}

/// The contents of locked landing pages, each with its page.
pub(crate) fn contents(
    connection: &mut SqliteConnection,
    account: AccountId,
    ids: &[LandingId],
) -> Result<Vec<(LandingId, PageContent)>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let named: Vec<LinkId> = ids.iter().copied().map(LinkId::from).collect();
    let rows: Vec<(StoredId, Option<String>)> = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(IsOneOf::these(&named))
        .select((links::id, links::page))
        .load(connection)?;
    let mut found = BTreeMap::new();
    for (id, page) in rows {
        let id = LandingId::from_bytes(id.bytes(TABLE)?);
        found.insert(id, page_from(&landing_row(id), page.as_deref())?);
    }
    let content = |id: &LandingId| Ok((*id, found.remove(id).ok_or_else(|| not_locked(*id))?));
    ids.iter().map(content).collect()
}

/// Writes the contents of locked or new landing pages, and returns the addresses that they have.
pub(crate) fn write(
    connection: &mut SqliteConnection,
    account: AccountId,
    pages: &[(LandingId, PageContent)],
) -> Result<Vec<Address>, Failure> {
    if pages.is_empty() {
        return Ok(Vec::new());
    }
    let columns = pages.iter().map(|(id, content)| (IdBytes::from(*id), page_column(content))).collect();
    let statement = WritePages { account: account.into(), pages: columns };
    let written: Vec<(StoredId, Option<String>, String)> = statement.load(connection)?;
    let is_missing = |id: LandingId| {
        let id = StoredId::from(IdBytes::from(id));
        written.iter().all(|(row, _, _)| *row != id)
    };
    if let Some((id, _)) = pages.iter().find(|(id, _)| is_missing(*id)) {
        return Err(not_locked(*id));
    }
    let mut addresses = Vec::with_capacity(written.len());
    for (id, host, slug) in written {
        let row = landing_row(LandingId::from_bytes(id.bytes(TABLE)?));
        addresses.extend(host.map(|host| address_from(&row, host, slug)).transpose()?);
    }
    Ok(addresses)
}

/// Writes the contents of landing pages, and returns the id, host and slug of each.
struct WritePages {
    account: IdBytes,
    pages: Vec<(IdBytes, Option<String>)>,
}

impl QueryFragment<Sqlite> for WritePages {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        const LANDING: &i16 = &kind_column(LinkKind::Landing);
        // A statement for one page is worth keeping; those for many differ in length.
        if self.pages.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        out.push_sql("WITH changed (account_id, kind, id, page) AS (VALUES ");
        for (number, (id, page)) in self.pages.iter().enumerate() {
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<Binary, _>(&self.account)?;
            out.push_sql(", ");
            out.push_bind_param::<SmallInt, _>(LANDING)?;
            out.push_sql(", ");
            out.push_bind_param::<Binary, _>(id)?;
            out.push_sql(", ");
            out.push_bind_param::<Nullable<Text>, _>(page)?;
            out.push_sql(")");
        }
        out.push_sql(
            ") UPDATE links SET page = changed.page FROM changed WHERE links.account_id = changed.account_id AND \
             links.kind = changed.kind AND links.id = changed.id RETURNING id, host, slug",
        );
        Ok(())
    }
}

impl Query for WritePages {
    type SqlType = (Identifier, Nullable<Text>, Text);
}

impl QueryId for WritePages {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for WritePages {}

fn not_locked(id: LandingId) -> Failure {
    Failure::Other(format!("the landing page {id} was not locked"))
}
