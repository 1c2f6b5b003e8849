//! The lists of an account's links, one of each kind.
//!
//! Every page is one range of an index whose order within the range is that of the ids, read downwards from the cursor
//! until the page is full: what lies behind the page, or before it, costs nothing. There is an index for each of group,
//! site and activity, and one for no filter. Where several filters come together, PostgreSQL takes the one that it knows
//! for the narrowest, and the others, as always the search, choose among its rows.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupFilter, Link, LinkFilter, LinkKind, Page, PageLimit, PagePosition};

use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::rows::link::{LinkRow, kind_column, site_column};
use crate::schema::links;
use crate::search::{part_of_key, strpos};

/// One page of the account's links of a kind that pass the filter.
pub(crate) async fn links(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Link>, Failure> {
    let LinkFilter { group, site, is_active, search } = filter;
    let mut query = links::table
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(kind_column(kind)))
        .order(links::id.desc())
        .limit(i64::from(limit.get()) + 1)
        .select(LinkRow::as_select())
        .into_boxed();
    if let Some(position) = after {
        query = query.filter(links::id.lt(IdBytes::from(position)));
    }
    match group {
        GroupFilter::Any => {}
        GroupFilter::Ungrouped => query = query.filter(links::group_id.is_null()),
        GroupFilter::In(group) => query = query.filter(links::group_id.eq(IdBytes::from(*group))),
    }
    if let Some(site) = site {
        query = query.filter(links::host.eq(site_column(site)));
    }
    if let Some(is_active) = is_active {
        query = query.filter(links::is_active.eq(*is_active));
    }
    if let Some(search) = search {
        let Some(part) = part_of_key(search) else { return Ok(Page::empty()) };
        query = query.filter(strpos(links::search_key, part).gt(0));
    }
    let rows = query.load(connection).await?;
    let links = rows.into_iter().map(LinkRow::into_link).collect::<Result<_, Failure>>()?;
    Ok(Page::from_one_more(links, limit, |link: &Link| link.id().to_bytes()))
}
