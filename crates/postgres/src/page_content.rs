//! The content of landing pages. Only operations on a single page read it.

use diesel::prelude::*;
use diesel::sql_types::{Nullable, SmallInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, Address, LandingId, LandingPage, LinkKind, PageContent};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::list_range::AmongRows;
use crate::schema::links;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{LinkRow, address_from, kind_column};
use signpost_sql_rows::page::{landing_row, page_column, page_from};

statement! {
    /// Writes the content of a landing page of the account, and returns its host and slug.
    WritePage -> (Nullable<Text>, Text) {
        id: IdBytes => Identifier,
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        page: Option<String> => Nullable<Text>,
    } =
    "UPDATE links SET page = $4 WHERE id = $1 AND account_id = $2 AND kind = $3 RETURNING host, slug"
}

const LANDING: i16 = kind_column(LinkKind::Landing);

/// A landing page with its content.
pub(crate) async fn landing_page(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: LandingId,
) -> Result<Option<LandingPage>, Failure> {
    let found = links::table
        .find(IdBytes::from(id))
        .filter(AmongRows(links::account_id.eq(IdBytes::from(account)).and(links::kind.eq(LANDING))))
        .select((LinkRow::as_select(), links::page))
        .first::<(LinkRow, Option<String>)>(connection)
        .await
        .optional()?;
    let Some((row, page)) = found else { return Ok(None) };
    Ok(Some(row.into_landing()?.with_content(page_from(&landing_row(id), page.as_deref())?)))
}

/// The content of a locked landing page.
pub(crate) async fn read(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: LandingId,
) -> Result<PageContent, Failure> {
    let found = links::table
        .find(IdBytes::from(id))
        .filter(AmongRows(links::account_id.eq(IdBytes::from(account)).and(links::kind.eq(LANDING))))
        .select(links::page)
        .first::<Option<String>>(connection)
        .await
        .optional()?;
    let page = found.ok_or_else(|| not_held(id))?;
    Ok(page_from(&landing_row(id), page.as_deref())?)
}

/// Writes the content of a locked landing page, and returns its address if it has one.
pub(crate) async fn write(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: LandingId,
    content: &PageContent,
) -> Result<Option<Address>, Failure> {
    let statement =
        WritePage { id: id.into(), account: account.into(), kind: LANDING, page: page_column(content) };
    let written: Option<(Option<String>, String)> = statement.get_result(connection).await.optional()?;
    let (host, slug) = written.ok_or_else(|| not_held(id))?;
    Ok(host.map(|host| address_from(&landing_row(id), host, slug)).transpose()?)
}

fn not_held(id: LandingId) -> Failure {
    Failure::Other(format!("the landing page {id} was not locked"))
}
