//! The content of landing pages. Only operations on a single page read it.

use std::collections::BTreeMap;

use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, Nullable, SmallInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, Address, LandingId, LandingPage, LinkKind, PageContent};
use signpost_sql_rows::sql_types::Identifier;

use crate::cached_query::cached_query;
use crate::failure::Failure;
use crate::list_range::AmongRows;
use crate::schema::links;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{LinkRow, address_from, kind_column};
use signpost_sql_rows::page::{landing_row, page_column, page_from};

cached_query! {
    /// An account's landing page with its content. At most one link has a given id.
    PageOf -> (AsSelect<LinkRow, Pg>, Nullable<Text>) {
        id: IdBytes => Identifier,
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } = links::table
        .find(id)
        .filter(AmongRows(links::account_id.eq(account).and(links::kind.eq(kind))))
        .select((LinkRow::as_select(), links::page))
}

statement! {
    /// Writes the contents of landing pages of the account, and returns the id, host and slug of each. The other conditions are
    /// hidden from the planner, so that it picks no index but that of the ids (ADR 17).
    WritePages -> (Identifier, Nullable<Text>, Text) {
        ids: Vec<IdBytes> => Array<Identifier>,
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        pages: Vec<Option<String>> => Array<Nullable<Text>>,
    } =
    "UPDATE links AS l SET page = ($4::text[])[array_position($1::uuid[], l.id)] WHERE l.id = ANY ($1::uuid[]) AND \
     CASE WHEN l.account_id = $2 AND l.kind = $3 THEN true ELSE false END RETURNING l.id, l.host, l.slug"
}

const LANDING: i16 = kind_column(LinkKind::Landing);

/// A landing page with its content.
pub(crate) async fn landing_page(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: LandingId,
) -> Result<Option<LandingPage>, Failure> {
    let query = PageOf { id: id.into(), account: account.into(), kind: LANDING };
    let found: Vec<(LinkRow, Option<String>)> = query.load(connection).await?;
    let Some((row, page)) = found.into_iter().next() else { return Ok(None) };
    Ok(Some(row.into_landing()?.with_content(page_from(&landing_row(id), page.as_deref())?)))
}

/// The contents of locked landing pages, each with its page.
pub(crate) async fn read(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    ids: &[LandingId],
) -> Result<Vec<(LandingId, PageContent)>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let bytes: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
    let rows: Vec<(IdBytes, Option<String>)> = links::table
        .filter(links::id.eq_any(bytes))
        .filter(AmongRows(links::account_id.eq(IdBytes::from(account)).and(links::kind.eq(LANDING))))
        .select((links::id, links::page))
        .load(connection)
        .await?;
    let mut found = BTreeMap::new();
    for (id, page) in rows {
        let id = LandingId::from_bytes(id.get());
        found.insert(id, page_from(&landing_row(id), page.as_deref())?);
    }
    let content = |id: &LandingId| Ok((*id, found.remove(id).ok_or_else(|| not_held(*id))?));
    ids.iter().map(content).collect()
}

/// Writes the contents of locked landing pages, and returns the addresses that they have.
pub(crate) async fn write(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    pages: &[(LandingId, &PageContent)],
) -> Result<Vec<Address>, Failure> {
    let (ids, columns) = pages.iter().map(|(id, content)| (IdBytes::from(*id), page_column(content))).unzip();
    let statement = WritePages { ids, account: account.into(), kind: LANDING, pages: columns };
    let written: Vec<(IdBytes, Option<String>, String)> = statement.load(connection).await?;
    let missing = |(id, _): &&(LandingId, _)| written.iter().all(|(row, _, _)| *row != IdBytes::from(*id));
    if let Some((id, _)) = pages.iter().find(missing) {
        return Err(not_held(*id));
    }
    let mut addresses = Vec::with_capacity(written.len());
    for (id, host, slug) in written {
        let row = landing_row(LandingId::from_bytes(id.get()));
        addresses.extend(host.map(|host| address_from(&row, host, slug)).transpose()?);
    }
    Ok(addresses)
}

fn not_held(id: LandingId) -> Failure {
    Failure::Other(format!("the landing page {id} was not locked"))
}
