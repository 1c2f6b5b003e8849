//! The links that visitors find at addresses.

use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text, Uuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::PublishedLink;
use signpost_domain::Address;

use crate::failure::Failure;
use crate::rows::custom_domain::ACTIVE;
use crate::rows::link::address_columns;
use crate::rows::published_link::PublishedRow;
use crate::statement::statement;

statement! {
    /// The links at these addresses, each with the place of its address, beginning at 1. The `LIMIT` has PostgreSQL look up
    /// one address after another by the index; without one it might read through whole tables to join them.
    LinksAt -> (
        BigInt,
        (
            Uuid,
            Uuid,
            SmallInt,
            Text,
            Nullable<Text>,
            Bool,
            Bool,
            Bool,
            Bool,
            Text,
            Array<Uuid>,
            Array<Nullable<Text>>,
            Nullable<Text>,
        ),
    ) {
        hosts: Vec<String>,
        slugs: Vec<String>,
        active: &'static str,
    } =
    "SELECT wanted.place, l.* FROM unnest("
    { hosts: Array<Text> } ", "
    { slugs: Array<Text> } ") WITH ORDINALITY AS wanted (host, slug, place) CROSS JOIN LATERAL ( \
        SELECT links.id, links.account_id, links.kind, links.name, links.target_url, links.is_active, \
            accounts.suspended_at IS NOT NULL, links.analytics_enabled, links.antibot_enabled, links.geo_blocklist, \
            links.pixel_ids, ARRAY( \
                SELECT (SELECT type || ' ' || code FROM pixels WHERE id = pixel AND account_id = links.account_id) \
                FROM unnest(links.pixel_ids) AS pixel), \
            links.page \
        FROM links JOIN accounts ON accounts.id = links.account_id \
        WHERE links.host = wanted.host AND links.slug = wanted.slug \
            AND (links.host = '' OR EXISTS ( \
                SELECT FROM custom_domains WHERE custom_domains.hostname = links.host \
                    AND custom_domains.account_id = links.account_id AND custom_domains.status = "
    { active: Text } ")) LIMIT 1) AS l"
}

/// The link at an address.
pub(crate) async fn find(
    connection: &mut &AsyncPgConnection,
    address: &Address,
) -> Result<Option<PublishedLink>, Failure> {
    let (host, slug) = address_columns(address);
    let links_at = LinksAt { hosts: vec![host], slugs: vec![slug], active: ACTIVE };
    let found: Option<(i64, PublishedRow)> = links_at.get_result(connection).await.optional()?;
    found.map(|(_place, row)| row.into_link()).transpose()
}
