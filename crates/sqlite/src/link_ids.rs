//! The ids of an account's links in a group or on a site.

use diesel::prelude::*;
use signpost_domain::{AccountId, GroupFilter, LinkId, Site};

use crate::failure::Failure;
use crate::link_list::TextBesideIndex;
use crate::schema::links;
use signpost_sql_rows::columns::{IdBytes, StoredId, signed};
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
