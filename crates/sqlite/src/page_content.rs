//! The content of landing pages.

use diesel::prelude::*;
use signpost_domain::{AccountId, Address, LandingId, LandingPage, LinkKind, PageContent};

use crate::failure::Failure;
use crate::schema::links;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{LinkRow, address_from, kind_column};
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

/// The content of a locked landing page.
pub(crate) fn content(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: LandingId,
) -> Result<PageContent, Failure> {
    let found = links::table
        .find(IdBytes::from(id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(kind_column(LinkKind::Landing)))
        .select(links::page)
        .first::<Option<String>>(connection)
        .optional()?;
    let page = found.ok_or_else(|| not_locked(id))?;
    Ok(page_from(&landing_row(id), page.as_deref())?)
}

/// Writes the content of a locked or new landing page, and returns its address if it has one.
pub(crate) fn write(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: LandingId,
    content: &PageContent,
) -> Result<Option<Address>, Failure> {
    let landing = links::table
        .find(IdBytes::from(id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(kind_column(LinkKind::Landing)));
    let written = diesel::update(landing)
        .set(links::page.eq(page_column(content)))
        .returning((links::host, links::slug))
        .get_result::<(Option<String>, String)>(connection)
        .optional()?;
    let (host, slug) = written.ok_or_else(|| not_locked(id))?;
    Ok(host.map(|host| address_from(&landing_row(id), host, slug)).transpose()?)
}

fn not_locked(id: LandingId) -> Failure {
    Failure::Other(format!("the landing page {id} was not locked"))
}
