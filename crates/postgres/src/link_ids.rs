//! The ids of an account's links in a group or on a site, and those that links of any account have.

use diesel::prelude::*;
use diesel::sql_types::Array;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupFilter, LinkId, Site};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::schema::links;
use crate::statement::statement;
use signpost_sql_rows::columns::{IdBytes, StoredId, named_among};
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

statement! {
    /// Those of these ids that links of any account have.
    TakenLinkIds -> Identifier {
        ids: Vec<IdBytes> => Array<Identifier>,
    } =
    "SELECT l.id FROM links AS l WHERE l.id = ANY ($1)"
}

/// Those of `ids` that a link of any account has, each once. The kind does not matter, because the bits are unique.
pub(crate) async fn taken(
    connection: &mut &AsyncPgConnection,
    ids: &[LinkId],
) -> Result<Vec<LinkId>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let statement = TakenLinkIds { ids: ids.iter().copied().map(IdBytes::from).collect() };
    let found: Vec<StoredId> = statement.load(connection).await?;
    Ok(named_among(&found, ids))
}
