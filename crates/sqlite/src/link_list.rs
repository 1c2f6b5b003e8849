//! The lists of an account's links, one of each kind.
//!
//! Every page is one range of an index whose order within the range is that of the ids, read downwards from the
//! cursor until the page is full: what lies behind the page, or before it, costs nothing. There is an index for each of
//! group, site and activity, and one for no filter. Where several filters come together, the first of these three
//! chooses the range, because it is the narrowest as a rule, and the others, as always the search, choose among its
//! rows. That is not left to SQLite, which takes all filters for equally narrow.

use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use signpost_domain::{AccountId, GroupFilter, Link, LinkFilter, LinkKind, Page, PageLimit, PagePosition};

use crate::columns::{IdBytes, UpperBound};
use crate::failure::Failure;
use crate::rows::link::{LinkRow, kind_column, site_column};
use crate::schema::links;
use crate::search::link_matches;

// An operator that changes nothing but that SQLite uses no index for what it stands before.
diesel::prefix_operator!(TextBesideIndex, "+", Text, backend: Sqlite);
diesel::prefix_operator!(FlagBesideIndex, "+", backend: Sqlite);

/// One page of the account's links of a kind that pass the filter.
pub(crate) fn links(
    connection: &mut SqliteConnection,
    account: AccountId,
    kind: LinkKind,
    filter: LinkFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Link>, Failure> {
    let LinkFilter { group, site, is_active, search } = filter;
    let mut query = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(kind_column(kind)))
        .filter(links::id.lt(UpperBound::from(after)))
        .order(links::id.desc())
        .limit(i64::from(limit.get()) + 1)
        .select(LinkRow::as_select())
        .into_boxed();
    let mut has_range = false;
    match group {
        GroupFilter::Any => {}
        GroupFilter::Ungrouped => {
            query = query.filter(links::group_id.is_null());
            has_range = true;
        }
        GroupFilter::In(group) => {
            query = query.filter(links::group_id.eq(IdBytes::from(group)));
            has_range = true;
        }
    }
    if let Some(site) = site {
        let host = site_column(&site);
        query = if has_range {
            query.filter(TextBesideIndex::new(links::host).eq(host))
        } else {
            query.filter(links::host.eq(host))
        };
        has_range = true;
    }
    if let Some(is_active) = is_active {
        query = if has_range {
            query.filter(FlagBesideIndex::new(links::is_active).eq(is_active))
        } else {
            query.filter(links::is_active.eq(is_active))
        };
    }
    if let Some(search) = search {
        let folded = search.folded().to_owned();
        query = query.filter(link_matches(folded, links::name, links::slug, links::target_url));
    }
    let rows = query.load(connection)?;
    let links = rows.into_iter().map(LinkRow::into_link).collect::<Result<_, Failure>>()?;
    Ok(Page::from_one_more(links, limit, |link: &Link| link.id().to_bytes()))
}
