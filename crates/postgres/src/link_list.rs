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

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{
    AccountId, GroupFilter, Link, LinkFilter, LinkKind, Page, PageLimit, PagePosition, Slug, StateRange,
    TargetHost,
};

use crate::failure::Failure;
use crate::inline_limit::rows_to_read;
use crate::list_range::{AmongRows, ListRange, RangeColumn};
use crate::range_walk::{RangeWalk, RowTests};
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

/// The tests of the tags, the states, rules, the host of the target, the instants and the search. No index has these as a whole. `None` if no
/// link can match.
fn tests_of_rows(filter: &LinkFilter) -> Option<RowTests<'_>> {
    let LinkFilter { tags, state, target_host, created, updated, search, .. } = filter;
    let mut tests = RowTests::default();
    for tag in TagCondition::of_filter(tags) {
        tests.add(tag);
    }
    if let Some(state) = *state {
        tests.add(StateCondition::from(state));
    }
    if let Some(host) = target_host {
        tests.add(TargetUnder::host(host));
    }
    if let Some(from) = created.from {
        tests.add(links::created_at.ge(Instant::from(from)));
    }
    if let Some(to) = created.to {
        tests.add(links::created_at.le(Instant::from(to)));
    }
    if let Some(from) = updated.from {
        tests.add(links::updated_at.ge(Instant::from(from)));
    }
    if let Some(to) = updated.to {
        tests.add(links::updated_at.le(Instant::from(to)));
    }
    if let Some(search) = search {
        tests.add(strpos(links::search_key, part_of_key(search)?).gt(0));
    }
    Some(tests)
}

/// Adds the tests of the filters that have indexes, but for the one that chooses the range.
fn test_beside(column: &RangeColumn, filter: &LinkFilter, tests: &mut RowTests<'_>) {
    let LinkFilter { group, site, is_active, has_password, has_rules, .. } = filter;
    match group {
        GroupFilter::Ungrouped if !matches!(column, RangeColumn::Ungrouped) => {
            tests.add(links::group_id.is_null());
        }
        GroupFilter::In(group) if !matches!(column, RangeColumn::Group(_)) => {
            tests.add(links::group_id.eq(IdBytes::from(*group)));
        }
        GroupFilter::Any | GroupFilter::Ungrouped | GroupFilter::In(_) => {}
    }
    if let (false, Some(site)) = (matches!(column, RangeColumn::Host(_)), site) {
        tests.add(links::host.eq(site_column(site)));
    }
    if let (false, Some(is_active)) = (matches!(column, RangeColumn::Activity(_)), *is_active) {
        tests.add(links::is_active.eq(is_active));
    }
    match (has_password, column) {
        (None, _) | (Some(true), RangeColumn::WithPassword) => {}
        (Some(true), _) => tests.add(WithPassword),
        (Some(false), _) => tests.add(WithoutPassword),
    }
    if let (false, Some(has_rules)) = (matches!(column, RangeColumn::Rules), *has_rules) {
        tests.add(links::has_rules.eq(has_rules));
    }
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
    let LinkFilter { group, site, slug, is_active, has_password, has_rules, external_id, .. } = filter;
    let Some(tests) = tests_of_rows(filter) else { return Ok(Vec::new()) };
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
    if let Some(has_rules) = has_rules {
        query = query.filter(AmongRows(links::has_rules.eq(*has_rules)));
    }
    if let Some(after) = after {
        query = query.filter(AmongRows(links::id.lt(IdBytes::from(after))));
    }
    Ok(query.filter(tests).load(connection).await?)
}

/// The column of the filter that chooses the range.
fn narrowest_column(filter: &LinkFilter) -> RangeColumn {
    let LinkFilter { group, site, slug, is_active, has_password, state, has_rules, target_host, .. } = filter;
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
        // These have indexes of their own, which serve if no other filter chooses the range.
        (None, None, _, None, None, None) => match (group, has_password) {
            (GroupFilter::Ungrouped, _) => RangeColumn::Ungrouped,
            (GroupFilter::Any, Some(true)) => RangeColumn::WithPassword,
            (GroupFilter::Any | GroupFilter::In(_), _) => RangeColumn::None,
        },
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
    let Some(mut tests) = tests_of_rows(filter) else { return Ok(Vec::new()) };
    let column = narrowest_column(filter);
    test_beside(&column, filter, &mut tests);
    let range = ListRange {
        account: account.into(),
        column,
        kind: kind_column(kind),
        below: after.map(IdBytes::from),
    };
    Ok(RangeWalk::rows(range, tests, rows_to_read(limit)).load(connection).await?)
}
