//! The ids of an account's links in a group or on a site.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupFilter, LinkId, Site};

use crate::failure::Failure;
use crate::schema::links;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::{link_id, site_column};

/// Those of both kinds, at most so many: one statement, so that they are as of one moment.
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
        // Of no use to the caller, but without it PostgreSQL may read the whole table: its plan is for any group and any domain.
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
