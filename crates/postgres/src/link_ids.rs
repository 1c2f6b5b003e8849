//! The ids of an account's links in a group or on a site.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupFilter, LinkId, Site};

use crate::failure::Failure;
use crate::schema::links;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::{link_id, site_column};

/// The ids of both kinds of links, up to a limit, in one statement and so from one snapshot.
pub(crate) async fn link_ids(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    group: GroupFilter,
    site: Option<&Site>,
    at_most: usize,
) -> Result<Vec<LinkId>, Failure> {
    let mut query = links::table
        .select((links::kind, links::id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        // The caller does not need the order. Without it PostgreSQL may scan the whole table, because its plan is generic.
        .order((links::kind, links::id))
        .limit(i64::try_from(at_most).unwrap_or(i64::MAX))
        .into_boxed();
    query = match group {
        GroupFilter::Any => query,
        GroupFilter::Ungrouped => query.filter(links::group_id.is_null()),
        GroupFilter::In(group) => query.filter(links::group_id.eq(IdBytes::from(group))),
    };
    if let Some(site) = site {
        query = query.filter(links::host.eq(site_column(site)));
    }
    let rows: Vec<(i16, StoredId)> = query.load(connection).await?;
    Ok(rows.iter().map(|(kind, id)| link_id(*kind, id).map(|(id, _)| id)).collect::<Result<_, _>>()?)
}
