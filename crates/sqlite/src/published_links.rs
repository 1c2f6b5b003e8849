//! The link that visitors see at an address.

use diesel::dsl::{case_when, exists};
use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::Bool;
use diesel::sqlite::Sqlite;
use signpost_app::ports::PublishedLink;

use crate::failure::Failure;
use crate::schema::{accounts, custom_domains, links, pixels};
use signpost_domain::{PixelCode, PixelId, PixelIds};
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::custom_domain::ACTIVE;
use signpost_sql_rows::link::SYSTEM_DOMAIN;
use signpost_sql_rows::pixel::PixelCodeRow;
use signpost_sql_rows::published_link::PublishedRow;

/// The link at an address, given as its columns. Its row occurs once for each of its pixels. For inactive links and
/// suspended accounts, the content is not read, so these take no longer than an address without a link (R30).
pub(crate) fn find(
    connection: &mut SqliteConnection,
    host: String,
    slug: String,
) -> Result<Option<PublishedLink>, Failure> {
    let its_active_domain = custom_domains::table
        .filter(custom_domains::account_id.eq(links::account_id))
        .filter(custom_domains::hostname.nullable().eq(links::host))
        .filter(custom_domains::status.eq(ACTIVE));
    let opens = links::is_active.and(accounts::suspended_at.is_null());
    let rows = links::table
        .inner_join(accounts::table)
        .left_join(pixels::table.on(IsPixelOfLink))
        .filter(links::host.eq(host))
        .filter(links::slug.eq(slug))
        .filter(links::host.eq(SYSTEM_DOMAIN).or(exists(its_active_domain).nullable()))
        .select((
            PublishedRow::as_select(),
            accounts::suspended_at.is_not_null(),
            Option::<PixelCodeRow>::as_select(),
            case_when(opens, links::page),
        ))
        .load::<(PublishedRow, bool, Option<PixelCodeRow>, Option<String>)>(connection)?;
    let (mut found, mut pixels) = (None, Vec::new());
    for (row, is_suspended, pixel, page) in rows {
        pixels.extend(pixel);
        found = Some((row, is_suspended, page));
    }
    let Some((row, is_suspended, page)) = found else { return Ok(None) };
    Ok(Some(row.into_link(is_suspended, page.as_deref(), |order| codes_from(order, pixels))?))
}

/// The codes of the pixels, in the order of the redirect.
fn codes_from(order: &PixelIds, pixels: Vec<PixelCodeRow>) -> Result<Vec<PixelCode>, Corrupt> {
    let mut codes = pixels.into_iter().map(PixelCodeRow::into_code).collect::<Result<Vec<_>, _>>()?;
    let place = |id: &PixelId| order.as_slice().iter().position(|other| other == id);
    codes.sort_by_key(|(id, _)| place(id));
    Ok(codes.into_iter().map(|(_, code)| code).collect())
}

/// The condition that a pixel belongs to the link and to the same account. SQLite splits the array of ids and looks up each.
#[derive(Debug, Clone, Copy, QueryId)]
struct IsPixelOfLink;

impl Expression for IsPixelOfLink {
    type SqlType = Bool;
}

impl ValidGrouping<()> for IsPixelOfLink {
    type IsAggregate = is_aggregate::No;
}

impl<Tables> AppearsOnTable<Tables> for IsPixelOfLink {}

impl QueryFragment<Sqlite> for IsPixelOfLink {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        // The plus keeps SQLite from scanning the index of the account's pixels.
        out.push_sql(
            "+pixels.account_id = links.account_id AND pixels.id IN ( \
                 WITH RECURSIVE places (place) AS ( \
                     SELECT 1 WHERE length(links.pixel_ids) > 0 \
                     UNION ALL SELECT place + 16 FROM places WHERE place + 16 < length(links.pixel_ids) \
                 ) SELECT substr(links.pixel_ids, place, 16) FROM places)",
        );
        Ok(())
    }
}
