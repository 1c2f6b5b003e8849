//! The ids of an account's links in a group or on a site, and those that links of any account have.

use diesel::prelude::*;
use signpost_domain::{AccountId, GroupFilter, LinkId, Site};

use crate::failure::Failure;
use crate::link_list::TextBesideIndex;
use crate::schema::links;
use signpost_sql_rows::columns::{IdBytes, StoredId, named_among, signed};
use signpost_sql_rows::link::{link_id, site_column};

/// The ids of both kinds of links, up to a limit, in one statement and so from one snapshot.
pub(crate) fn link_ids(
    connection: &mut SqliteConnection,
    account: AccountId,
    group: GroupFilter,
    site: Option<&Site>,
    at_most: usize,
) -> Result<Vec<LinkId>, Failure> {
    let mut query = links::table
        .select((links::kind, links::id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .limit(signed(at_most))
        .into_boxed();
    query = match group {
        GroupFilter::Any => query,
        GroupFilter::Ungrouped => query.filter(links::group_id.is_null()),
        GroupFilter::In(group) => query.filter(links::group_id.eq(IdBytes::from(group))),
    };
    if let Some(site) = site {
        let host = site_column(site);
        // As in lists, the group selects the range. SQLite would select the site, which may have all links of the account.
        query = if group == GroupFilter::Any {
            query.filter(links::host.eq(host))
        } else {
            query.filter(TextBesideIndex::new(links::host).eq(host))
        };
    }
    let rows: Vec<(i16, StoredId)> = query.load(connection)?;
    Ok(rows.iter().map(|(kind, id)| link_id(*kind, id).map(|(id, _)| id)).collect::<Result<_, _>>()?)
}

/// Those of `ids` that a link of any account has, each once. The kind does not matter, because the bits are unique.
pub(crate) fn taken(connection: &mut SqliteConnection, ids: &[LinkId]) -> Result<Vec<LinkId>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let bits = ids.iter().map(|id| IdBytes::from(*id));
    let found: Vec<StoredId> =
        links::table.filter(links::id.eq_any(bits)).select(links::id).load(connection)?;
    Ok(named_among(&found, ids))
}
