//! The lists of an account's links, one of each kind.
//!
//! Every page is one range of an index whose order within the range is that of the ids, read downwards from the cursor
//! until the page is full: what lies behind the page, or before it, costs nothing. There is an index for each of group,
//! site and activity, and one for no filter. Where several filters come together, one chooses the range, the narrowest
//! as a rule, and the others, as always the search, choose among its rows: the group before all, then that links are
//! inactive, which few are, and the site before that they are active.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupFilter, Link, LinkFilter, LinkKind, Page, PageLimit, PagePosition};

use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::first_rows::{FirstRows, rows_read};
use crate::list_range::{AmongRows, ListRange, RangeColumn};
use crate::listed;
use crate::rows::link::{LinkRow, kind_column, site_column};
use crate::schema::links;
use crate::search::{part_of_key, strpos};

/// Whether a page may have to read many more rows than it shows: a search, and several filters of which only one chooses the
/// range.
pub(crate) fn may_read_many(filter: &LinkFilter) -> bool {
    let LinkFilter { group, site, is_active, search } = filter;
    let filters = [*group != GroupFilter::Any, site.is_some(), is_active.is_some()];
    search.is_some() || filters.into_iter().filter(|is_set| *is_set).count() > 1
}

/// One page of the account's links of a kind that pass the filter.
pub(crate) async fn links(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Link>, Failure> {
    let LinkFilter { group, site, is_active, search } = filter;
    let group_in = match group {
        GroupFilter::In(group) => Some(IdBytes::from(*group)),
        GroupFilter::Any | GroupFilter::Ungrouped => None,
    };
    let column = match (group_in, site, *is_active) {
        (Some(group), _, _) => RangeColumn::Group(group),
        (None, _, Some(false)) => RangeColumn::Activity(false),
        (None, Some(site), _) => RangeColumn::Host(site_column(site)),
        (None, None, Some(true)) => RangeColumn::Activity(true),
        (None, None, None) => RangeColumn::None,
    };
    let mut query = links::table.select(LinkRow::as_select()).into_boxed().order(links::account_id.desc());
    // What chooses the range is equal within it, and stands in the order for PostgreSQL to see which index has it.
    query = match column {
        RangeColumn::None => query,
        RangeColumn::Group(_) => query.then_order_by(links::group_id.desc()),
        RangeColumn::Host(_) => query.then_order_by(links::host.desc()),
        RangeColumn::Activity(_) => query.then_order_by(links::is_active.desc()),
    };
    let is_by_account = matches!(column, RangeColumn::None);
    let (is_by_host, is_by_activity) =
        (matches!(column, RangeColumn::Host(_)), matches!(column, RangeColumn::Activity(_)));
    let range = ListRange {
        account: account.into(),
        column,
        kind: kind_column(kind),
        below: after.map(IdBytes::from),
    };
    query = query.then_order_by((links::kind.desc(), links::id.desc())).filter(range);
    match group {
        GroupFilter::Any => {}
        // The index without links in groups is the range of those who ask for nothing else.
        GroupFilter::Ungrouped if is_by_account => query = query.filter(links::group_id.is_null()),
        GroupFilter::Ungrouped => query = query.filter(AmongRows(links::group_id.is_null())),
        GroupFilter::In(_) => query = query.filter(links::group_id.is_not_null()),
    }
    if let (false, Some(site)) = (is_by_host, site) {
        query = query.filter(AmongRows(links::host.eq(site_column(site))));
    }
    if let (false, Some(is_active)) = (is_by_activity, is_active) {
        query = query.filter(AmongRows(links::is_active.eq(*is_active)));
    }
    if let Some(search) = search {
        let Some(part) = part_of_key(search) else { return Ok(Page::empty()) };
        query = query.filter(strpos(links::search_key, part).gt(0));
    }
    let rows: Vec<LinkRow> = FirstRows { query, number: rows_read(limit) }.load(connection).await?;
    Ok(listed::page(rows, limit))
}
