//! The link lists of an account, one for each kind.
//!
//! Every page reads one range of an index that is ordered by id within the range, downwards from the cursor until the page
//! is full. Rows outside the page cost nothing. There is an index for each of slug, group, site and activity, one for no filter, one for
//! the links with a password, one for those with rules, one for links with a start or an end, and four for the target's host, by the
//! number of labels ([`EndOfTargetHost`]).
//!
//! With several filters, one chooses the range and the others, and always the tags, the state, the host, the instants and the search,
//! test its rows: a host may have more labels than any index, and the state of most links depends on more than an index has
//! ([`StateRange`]). The usually narrowest filter chooses: the slug first, then the group, then rules, then links without a domain, then
//! inactivity (few links are inactive), then the target's host, then dates, then the site, then activity. A site and a slug together are an address,
//! which at most one link has; so is an external id. A single tag without other filters selects the range of its links
//! ([`TaggedLinks`]).

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{
    AccountId, GroupFilter, Link, LinkFilter, LinkKind, Page, PageLimit, PagePosition, Slug, StateRange,
    TargetHost,
};

use crate::failure::Failure;
use crate::inline_limit::{InlineLimit, rows_to_read};
use crate::list_range::{AmongRows, ListRange, RangeColumn};
use crate::schema::links;
use crate::search::{part_of_key, strpos};
use crate::search_index;
use crate::tagged_links::TaggedLinks;
use crate::target_hosts::{EndOfTargetHost, TargetUnder};
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::link::{LinkRow, kind_column, site_column};
use signpost_sql_rows::link_password::{WithPassword, WithoutPassword};
use signpost_sql_rows::link_state::StateCondition;
use signpost_sql_rows::listed;
use signpost_sql_rows::tag::TagCondition;

/// One page of the account's links of a kind that match the filter.
pub(crate) async fn links(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Link>, Failure> {
    if !filter.may_match(kind) {
        return Ok(Page::empty());
    }
    if let Some(tag) = filter.only_tag() {
        let rows = TaggedLinks::for_page(account, kind, tag, limit, after).load(connection).await?;
        return Ok(listed::page(rows, limit));
    }
    let rows = match (&filter.external_id, &filter.site, &filter.slug) {
        (Some(_), _, _) | (None, Some(_), Some(_)) => {
            one_link(connection, account, kind, filter, after).await?
        }
        (None, None, None) if searches_alone(filter) => {
            by_index(connection, account, kind, filter, limit, after).await?
        }
        (None, _, _) => in_range(connection, account, kind, filter, limit, after).await?,
    };
    Ok(listed::page(rows, limit))
}

/// Whether the search is the only filter. With another filter, the search walks the range: it is unknown whether the range
/// or the candidates of the index are fewer.
const fn searches_alone(filter: &LinkFilter) -> bool {
    let LinkFilter {
        group,
        site,
        slug,
        is_active,
        has_password,
        state,
        external_id,
        tags,
        has_rules,
        target_host,
        created,
        updated,
        search,
    } = filter;
    search.is_some()
        && matches!(group, GroupFilter::Any)
        && site.is_none()
        && slug.is_none()
        && is_active.is_none()
        && has_password.is_none()
        && state.is_none()
        && external_id.is_none()
        && tags.is_any()
        && has_rules.is_none()
        && target_host.is_none()
        && created.is_any()
        && updated.is_any()
}

type Query<'a> = diesel::helper_types::IntoBoxed<
    'a,
    diesel::helper_types::Select<links::table, diesel::helper_types::AsSelect<LinkRow, Pg>>,
    Pg,
>;

/// The links of a query with the tags, one of the states, rules or none, and a target on the host of the filter, that were created and
/// last changed within its instants. No index has these as a whole.
fn within<'a>(mut query: Query<'a>, filter: &LinkFilter) -> Query<'a> {
    let LinkFilter { tags, state, has_rules, target_host, created, updated, .. } = filter;
    for tag in TagCondition::of_filter(tags) {
        query = query.filter(AmongRows(tag));
    }
    if let Some(state) = *state {
        query = query.filter(AmongRows(StateCondition::from(state)));
    }
    if let Some(has_rules) = *has_rules {
        query = query.filter(AmongRows(links::has_rules.eq(has_rules)));
    }
    if let Some(host) = target_host {
        query = query.filter(AmongRows(TargetUnder::host(host)));
    }
    if let Some(from) = created.from {
        query = query.filter(AmongRows(links::created_at.ge(Instant::from(from))));
    }
    if let Some(to) = created.to {
        query = query.filter(AmongRows(links::created_at.le(Instant::from(to))));
    }
    if let Some(from) = updated.from {
        query = query.filter(AmongRows(links::updated_at.ge(Instant::from(from))));
    }
    if let Some(to) = updated.to {
        query = query.filter(AmongRows(links::updated_at.le(Instant::from(to))));
    }
    query
}

/// The first links that match the search text, through the search index if there is one.
async fn by_index(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Vec<LinkRow>, Failure> {
    let Some(part) = filter.search.as_ref().and_then(part_of_key) else { return Ok(Vec::new()) };
    let found = search_index::search(connection, (account, kind), part, rows_to_read(limit), after).await?;
    match found {
        Some(rows) => Ok(rows),
        None => in_range(connection, account, kind, filter, limit, after).await,
    }
}

/// The account's link with the external id of the filter, or at its address, if it matches the rest of the filter. The other
/// conditions are hidden from the planner, so that it picks no other index. An account may have many links with one slug that
/// have lost their domains.
async fn one_link(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    after: Option<PagePosition>,
) -> Result<Vec<LinkRow>, Failure> {
    let LinkFilter { group, site, slug, is_active, has_password, external_id, search, .. } = filter;
    let (host, slug) = (site.as_ref().map(site_column), slug.as_ref().map(Slug::as_str));
    let account = links::account_id.eq(IdBytes::from(account));
    let mut query = links::table.select(LinkRow::as_select()).into_boxed();
    query = match external_id {
        Some(external_id) => {
            query = query.filter(account).filter(links::external_id.eq(external_id.as_str()));
            if let Some(host) = host {
                query = query.filter(AmongRows(links::host.eq(host)));
            }
            if let Some(slug) = slug {
                query = query.filter(AmongRows(links::slug.eq(slug)));
            }
            query
        }
        None => query
            .filter(links::host.eq(host.unwrap_or_default()))
            .filter(links::slug.eq(slug.unwrap_or_default()))
            .filter(AmongRows(account)),
    };
    query = query.filter(AmongRows(links::kind.eq(kind_column(kind))));
    query = match group {
        GroupFilter::Any => query,
        GroupFilter::Ungrouped => query.filter(AmongRows(links::group_id.is_null())),
        GroupFilter::In(group) => query.filter(AmongRows(links::group_id.eq(IdBytes::from(*group)))),
    };
    if let Some(is_active) = is_active {
        query = query.filter(AmongRows(links::is_active.eq(*is_active)));
    }
    query = match has_password {
        None => query,
        Some(true) => query.filter(AmongRows(WithPassword)),
        Some(false) => query.filter(AmongRows(WithoutPassword)),
    };
    if let Some(after) = after {
        query = query.filter(AmongRows(links::id.lt(IdBytes::from(after))));
    }
    query = within(query, filter);
    if let Some(search) = search {
        let Some(part) = part_of_key(search) else { return Ok(Vec::new()) };
        query = query.filter(strpos(links::search_key, part).gt(0));
    }
    Ok(query.load(connection).await?)
}

/// The column of the filter that chooses the range.
fn narrowest_column(filter: &LinkFilter) -> RangeColumn {
    let LinkFilter { group, site, slug, is_active, state, has_rules, target_host, .. } = filter;
    let group_in = match group {
        GroupFilter::In(group) => Some(IdBytes::from(*group)),
        GroupFilter::Any | GroupFilter::Ungrouped => None,
    };
    let states = state.map_or(StateRange::All, |state| state.states.range());
    let is_active = is_active.or(states.activity());
    let target = target_host.as_ref().and_then(TargetHost::indexed_end);
    match (slug, group_in, states, is_active, target, site) {
        (Some(slug), _, _, _, _, _) => RangeColumn::Slug(slug.as_str().to_owned()),
        (None, Some(group), _, _, _, _) => RangeColumn::Group(group),
        // Few links have rules.
        (None, None, _, _, _, _) if *has_rules == Some(true) => RangeColumn::Rules,
        (None, None, StateRange::Lost, _, _, _) => RangeColumn::NoHost,
        (None, None, _, Some(false), _, _) => RangeColumn::Activity(false),
        (None, None, _, _, Some(end), _) => EndOfTargetHost::range_of(end),
        (None, None, StateRange::Dated, _, None, _) => RangeColumn::Dated,
        (None, None, _, _, None, Some(site)) => RangeColumn::Host(site_column(site)),
        (None, None, _, Some(true), None, None) => RangeColumn::Activity(true),
        (None, None, _, None, None, None) => RangeColumn::None,
    }
}

/// The first links of a range that match the filter.
async fn in_range(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    kind: LinkKind,
    filter: &LinkFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Vec<LinkRow>, Failure> {
    let LinkFilter { group, site, is_active, has_password, search, .. } = filter;
    let column = narrowest_column(filter);
    let mut query = links::table.select(LinkRow::as_select()).into_boxed().order(links::account_id.desc());
    // The column of the range is constant within it; it is in the ORDER BY so that PostgreSQL picks the matching index.
    query = match column {
        RangeColumn::None | RangeColumn::Dated => query,
        RangeColumn::Slug(_) => query.then_order_by(links::slug.desc()),
        RangeColumn::Group(_) => query.then_order_by(links::group_id.desc()),
        RangeColumn::Host(_) | RangeColumn::NoHost => query.then_order_by(links::host.desc()),
        RangeColumn::Activity(_) => query.then_order_by(links::is_active.desc()),
        RangeColumn::Rules => query.then_order_by(links::has_rules.desc()),
        RangeColumn::TargetHost(end, _) => query.then_order_by(end.desc()),
    };
    let (is_by_account, is_by_group) =
        (matches!(column, RangeColumn::None), matches!(column, RangeColumn::Group(_)));
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
        // Ungrouped links have an index of their own, which serves if no other filter applies.
        GroupFilter::Ungrouped if is_by_account => query = query.filter(links::group_id.is_null()),
        GroupFilter::Ungrouped => query = query.filter(AmongRows(links::group_id.is_null())),
        GroupFilter::In(_) if is_by_group => query = query.filter(links::group_id.is_not_null()),
        GroupFilter::In(group) => {
            query = query.filter(AmongRows(links::group_id.eq(IdBytes::from(*group))));
        }
    }
    if let (false, Some(site)) = (is_by_host, site) {
        query = query.filter(AmongRows(links::host.eq(site_column(site))));
    }
    if let (false, Some(is_active)) = (is_by_activity, is_active) {
        query = query.filter(AmongRows(links::is_active.eq(*is_active)));
    }
    query = match has_password {
        None => query,
        // Links with a password have an index of their own, which serves if no other filter applies.
        Some(true) if is_by_account && matches!(group, GroupFilter::Any) => query.filter(WithPassword),
        Some(true) => query.filter(AmongRows(WithPassword)),
        Some(false) => query.filter(AmongRows(WithoutPassword)),
    };
    query = within(query, filter);
    if let Some(search) = search {
        let Some(part) = part_of_key(search) else { return Ok(Vec::new()) };
        query = query.filter(strpos(links::search_key, part).gt(0));
    }
    Ok(InlineLimit { query, number: rows_to_read(limit) }.load(connection).await?)
}
