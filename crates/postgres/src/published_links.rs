//! The links that visitors see at addresses.

use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::PublishedLink;
use signpost_domain::{Address, PixelCode, PixelIds};

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::custom_domain::ACTIVE;
use signpost_sql_rows::link::address_texts;
use signpost_sql_rows::pixel::code_from;
use signpost_sql_rows::published_link::{PublishedColumns, PublishedRow};

statement! {
    /// The links at these addresses, each with the position of its address, starting at 1. The `LIMIT` makes PostgreSQL
    /// probe the index address by address; without it, it might scan whole tables for a join. Most links have no pixels, so
    /// the pixel array is only built for those that do. For inactive links and suspended accounts, content and pixels are
    /// not read, so these take no longer than an address without a link (R30).
    LinksAt<'a> -> (BigInt, Bool, PublishedColumns, Array<Nullable<Text>>, Nullable<Text>) {
        hosts: Vec<&'a str> => Array<Text>,
        slugs: Vec<&'a str> => Array<Text>,
        active: &'static str => Text,
    } =
    "SELECT wanted.place, l.* FROM unnest($1, $2) WITH ORDINALITY AS wanted (host, slug, place) CROSS JOIN LATERAL ( \
     SELECT accounts.suspended_at IS NOT NULL, links.id, links.account_id, links.kind, links.name, links.target_url, \
     links.is_active, links.analytics_enabled, links.antibot_enabled, links.geo_blocklist, links.pixel_ids, \
     links.starts_at, links.expires_at, links.behaviour, CASE WHEN links.kind = 1 AND links.is_active AND \
     accounts.suspended_at IS NULL THEN (SELECT c.max_clicks || ' ' || c.taken || ' ' || c.since FROM link_credits AS c \
     WHERE c.link_id = links.id) END, CASE WHEN cardinality(links.pixel_ids) = 0 OR NOT links.is_active OR accounts.suspended_at IS NOT NULL THEN '{}' \
     ELSE ARRAY( SELECT (SELECT type || ' ' || code FROM pixels WHERE id = pixel AND account_id = links.account_id) \
     FROM unnest(links.pixel_ids) AS pixel) END, CASE WHEN links.is_active AND accounts.suspended_at IS NULL THEN \
     links.page END FROM links JOIN accounts ON accounts.id = links.account_id WHERE links.host = wanted.host AND \
     links.slug = wanted.slug AND (links.host = '' OR EXISTS ( SELECT FROM custom_domains WHERE \
     custom_domains.hostname = links.host AND custom_domains.account_id = links.account_id AND custom_domains.status \
     = $3)) LIMIT 1) AS l"
}

/// The position of an address, and whether the account is suspended. Then the link, the type and code of each
/// of its existing pixels, and the content of its page.
type FoundRow = (i64, bool, PublishedRow, Vec<Option<String>>, Option<String>);

/// The codes of the existing pixels, in the order of the redirect.
fn codes_from(order: &PixelIds, pixels: &[Option<String>]) -> Result<Vec<PixelCode>, Corrupt> {
    let pixels = order.as_slice().iter().zip(pixels);
    pixels.filter_map(|(id, text)| Some(code_from(*id, text.as_deref()?))).collect()
}

/// The link at an address.
pub(crate) async fn find(
    connection: &mut &AsyncPgConnection,
    address: &Address,
) -> Result<Option<PublishedLink>, Failure> {
    let found = find_each(connection, std::slice::from_ref(address)).await?;
    found.into_iter().next().unwrap_or(Ok(None))
}

/// The links at some distinct addresses, in the order of the addresses. A corrupt row fails only its own address.
pub(crate) async fn find_each(
    connection: &mut &AsyncPgConnection,
    addresses: &[Address],
) -> Result<Vec<Result<Option<PublishedLink>, Failure>>, Failure> {
    let (hosts, slugs) = addresses.iter().map(address_texts).unzip();
    let rows: Vec<FoundRow> = LinksAt { hosts, slugs, active: ACTIVE }.load(connection).await?;
    let mut found: Vec<_> = addresses.iter().map(|_| Ok(None)).collect();
    for (position, is_suspended, row, pixels, page) in rows {
        // The column `place` starts at 1.
        let position =
            usize::try_from(position).ok().and_then(|position| found.get_mut(position.checked_sub(1)?));
        if let Some(position) = position {
            let link = row.into_link(is_suspended, page.as_deref(), |order| codes_from(order, &pixels));
            *position = link.map(Some).map_err(Failure::from);
        }
    }
    Ok(found)
}
