//! The link lists of an account, one for each kind.
//!
//! Every page reads one range of an index that is ordered by id within the range, downwards from the cursor until the page
//! is full. Rows outside the page cost nothing. There is an index for each of slug, group, site and activity, one for no filter, one for
//! the links with a password, one for those with rules, one for links with a start or an end, and four for the target's host, by the
//! number of labels.
//!
//! With several filters, the first of slug, group, rules, no domain, target's host, dates, no group, site and activity selects the range,
//! because it is usually the narrowest. The others, and always the tags, the state, the host, the instants and the search, test its rows:
//! a host may have more labels than any index, and the state of most links depends on more than an index has ([`StateRange`]). SQLite
//! would consider all filters equally narrow, so the choice is made here. A site and a slug together are an address, which at most one
//! link has, and which has its own index. So does an external id. A single tag without other filters selects the range of its links
//! ([`TaggedLinks`]).
//!
//! A search for three or more characters first reads some rows in this way. Then it continues with the links that the text
//! index returns (`search_index`), newest first.

use diesel::prelude::*;
use diesel::sql_types::{SmallInt, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::{
    AccountId, GroupFilter, InstantRange, LinkFilter, LinkKind, PageLimit, PagePosition, StateFilter,
    StateRange, TargetHost,
};
use signpost_sql_rows::sql_types::Identifier;

use crate::columns::UpperBound;
use crate::failure::Failure;
use crate::schema::links;
use crate::search::link_matches;
use crate::search_index::IndexSearch;
use crate::search_order::SearchOrder;
use crate::tagged_links::TaggedLinks;
use crate::target_hosts::{TargetEnd, TargetUnder};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId, signed};
use signpost_sql_rows::link::{LinkRow, kind_column, site_column};
use signpost_sql_rows::link_password::{WithPassword, WithoutPassword};
use signpost_sql_rows::link_state::{HasDates, StateCondition};
use signpost_sql_rows::listed::Listed;
use signpost_sql_rows::tag::TagCondition;

// A no-op operator that keeps SQLite from using an index for its operand.
diesel::prefix_operator!(TextBesideIndex, "+", Text, backend: Sqlite);
diesel::prefix_operator!(FlagBesideIndex, "+", backend: Sqlite);
diesel::prefix_operator!(KindBesideIndex, "+", SmallInt, backend: Sqlite);
diesel::prefix_operator!(IdBesideIndex, "+", Identifier, backend: Sqlite);

/// How many links a search reads before it asks the index. A text that most links contain fills the page from these, which
/// is cheaper than opening the index.
const WALKED: i64 = 250;

/// The same where links were inserted so late that the index must return very many before a page is final.
const WALKED_IN_DISORDER: i64 = 4_000;

/// The maximum number of links to take from the index at a time. The first portion is small, because most of its links
/// match.
const MOST_NAMED: i64 = 2_000;

/// The selection of a page among an account's links.
struct Choice {
    account: IdBytes,
    kind: i16,
    group: GroupFilter,
    site: Option<String>,
    slug: Option<String>,
    external_id: Option<String>,
    is_active: Option<bool>,
    has_password: Option<bool>,
    state: Option<StateFilter>,
    tags: Vec<TagCondition>,
    has_rules: Option<bool>,
    target_host: Option<TargetHost>,
    created: InstantRange,
    updated: InstantRange,
    folded: Option<String>,
}

/// The rows of one page of the account's links of a kind that match the filter, and one more row if there are more.
pub(crate) fn links(
    connection: &mut SqliteConnection,
    account: AccountId,
    kind: LinkKind,
    filter: LinkFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Vec<LinkRow>, Failure> {
    if !filter.may_match(kind) {
        return Ok(Vec::new());
    }
    let bound = UpperBound::from(after);
    let wanted = usize::from(limit.get()) + 1;
    if let Some(tag) = filter.only_tag() {
        let (account, kind) = (IdBytes::from(account), kind_column(kind));
        return Ok(TaggedLinks::of(account, kind, tag, bound, wanted).load(connection)?);
    }
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
    // Few links share a slug, and none an external id, so they are read one by one.
    let searched = search.as_ref().filter(|_| slug.is_none() && external_id.is_none());
    let index = searched.and_then(|search| IndexSearch::of(account, kind, search.folded()));
    let choice = Choice {
        account: IdBytes::from(account),
        kind: kind_column(kind),
        group,
        site: site.as_ref().map(site_column),
        slug: slug.map(|slug| slug.as_str().to_owned()),
        external_id: external_id.map(|id| id.as_str().to_owned()),
        is_active,
        has_password,
        state,
        tags: TagCondition::of_filter(&tags),
        has_rules,
        target_host,
        created,
        updated,
        folded: search.map(|search| search.folded().to_owned()),
    };
    if let Some(external_id) = &choice.external_id {
        return Ok(choice.with_external_id(external_id, bound).load(connection)?);
    }
    match index {
        None => Ok(choice.between(None, bound, wanted).load(connection)?),
        Some(index) => search_with(connection, &choice, &index, bound, wanted),
    }
}

/// Reads the newest links one by one, then those that the index returns. It stops when no further link of the index can
/// belong on the page.
fn search_with(
    connection: &mut SqliteConnection,
    choice: &Choice,
    index: &IndexSearch,
    bound: UpperBound,
    wanted: usize,
) -> Result<Vec<LinkRow>, Failure> {
    let order = SearchOrder::of(connection, choice.account, choice.kind)?;
    let walked = if order.is_nearly_that_of_ids() { WALKED } else { WALKED_IN_DISORDER };
    let first_walked = links::table
        .filter(links::account_id.eq(choice.account))
        .filter(links::kind.eq(choice.kind))
        .filter(links::id.lt(bound))
        .order(links::id.desc())
        .select(links::id)
        .offset(walked - 1)
        .first::<StoredId>(connection)
        .optional()?;
    let mut rows = choice.between(first_walked.clone(), bound, wanted).load(connection)?;
    let Some(below) = first_walked.filter(|_| rows.len() < wanted) else { return Ok(rows) };
    let room = wanted.saturating_sub(rows.len());
    let mut number = order.number_above(connection, below.as_slice())?;
    let mut at_most = signed(wanted).saturating_mul(2);
    let mut found = Vec::new();
    loop {
        let named = index.candidates(connection, UpperBound::below(&below), number, at_most)?;
        let last = named.last().filter(|_| signed(named.len()) == at_most);
        let last = last.map(|last| (last.number, last.id.clone()));
        let ids: Vec<_> = named.into_iter().map(|named| named.id).collect();
        let ids_named = ids.len();
        found.extend(choice.among(ids, ids_named).load::<LinkRow>(connection)?);
        found.sort_by(|one, other| Listed::id(other).cmp(Listed::id(one)));
        found.truncate(room);
        let Some((last_number, last_id)) = last else { break };
        let is_full = found.len() == room;
        if is_full
            && found
                .last()
                .is_none_or(|row| order.precedes_all_below(Listed::id(row).as_slice(), last_id.as_slice()))
        {
            break;
        }
        number = last_number;
        at_most = at_most.saturating_mul(4).min(MOST_NAMED);
    }
    rows.append(&mut found);
    Ok(rows)
}

type Query<'a> = diesel::helper_types::IntoBoxed<
    'a,
    diesel::helper_types::Select<links::table, diesel::helper_types::AsSelect<LinkRow, Sqlite>>,
    Sqlite,
>;

/// A range that is usually narrower than those of no group, a site and activity.
enum NarrowerRange {
    Rules,
    Lost,
    Target(TargetEnd),
    Dated,
}

impl Choice {
    /// Links in a range of ids, through the index of the narrowest filter.
    fn between(&self, from: Option<StoredId>, bound: UpperBound, at_most: usize) -> Query<'_> {
        let mut query = self.all(at_most).filter(links::id.lt(bound));
        if let Some(from) = from {
            query = query.filter(links::id.ge(from));
        }
        let has_slug = self.slug.is_some();
        if let Some(slug) = &self.slug {
            query = query.filter(links::slug.eq(slug));
        }
        // Most links of an account may be without a group.
        let is_in_group = matches!(self.group, GroupFilter::In(_));
        let narrower = self.narrower_range().filter(|_| !has_slug && !is_in_group);
        let has_narrower = narrower.is_some();
        query = match (&narrower, self.has_rules) {
            (_, None) | (Some(NarrowerRange::Rules), _) => query,
            (_, Some(has_rules)) => query.filter(FlagBesideIndex::new(links::has_rules).eq(has_rules)),
        };
        let has_group = self.group != GroupFilter::Any;
        query = match self.group {
            GroupFilter::Any => query,
            GroupFilter::Ungrouped if has_slug || has_narrower => {
                query.filter(IdBesideIndex::new(links::group_id).is_null())
            }
            GroupFilter::Ungrouped => query.filter(links::group_id.is_null()),
            GroupFilter::In(group) if has_slug => {
                query.filter(IdBesideIndex::new(links::group_id).eq(IdBytes::from(group)))
            }
            GroupFilter::In(group) => query.filter(links::group_id.eq(IdBytes::from(group))),
        };
        query = match narrower {
            None => query,
            Some(NarrowerRange::Rules) => query.filter(links::has_rules),
            Some(NarrowerRange::Lost) => query.filter(links::host.is_null()),
            Some(NarrowerRange::Target(end)) => query.filter(end),
            Some(NarrowerRange::Dated) => query.filter(HasDates),
        };
        if let Some(host) = &self.site {
            // With a slug it is an address.
            query = if has_narrower || (has_group && !has_slug) {
                query.filter(TextBesideIndex::new(links::host).eq(host))
            } else {
                query.filter(links::host.eq(host))
            };
        }
        let has_range = has_slug || has_group || has_narrower || self.site.is_some();
        match (has_range, self.is_active, self.state_range().activity()) {
            (true, Some(is_active), _) => query.filter(FlagBesideIndex::new(links::is_active).eq(is_active)),
            (false, Some(is_active), _) | (false, None, Some(is_active)) => {
                query.filter(links::is_active.eq(is_active))
            }
            (true, None, _) | (false, None, None) => query,
        }
    }

    /// Where the links of the states are.
    fn state_range(&self) -> StateRange {
        self.state.map_or(StateRange::All, |state| state.states.range())
    }

    /// The range that the rules, the state or the target's host select, if there is one with an index of its own.
    fn narrower_range(&self) -> Option<NarrowerRange> {
        // Few links have rules.
        if self.has_rules == Some(true) {
            return Some(NarrowerRange::Rules);
        }
        let states = self.state_range();
        if states == StateRange::Lost {
            return Some(NarrowerRange::Lost);
        }
        let end = self.target_host.as_ref().and_then(TargetHost::indexed_end);
        let target = end.map(|end| NarrowerRange::Target(TargetEnd::from(end)));
        target.or_else(|| (states == StateRange::Dated).then_some(NarrowerRange::Dated))
    }

    /// The link with an external id. There is at most one, so the statement has no order.
    fn with_external_id<'a>(&'a self, external_id: &'a str, bound: UpperBound) -> Query<'a> {
        let query = links::table
            .select(LinkRow::as_select())
            .filter(links::account_id.eq(self.account))
            .filter(links::external_id.eq(external_id))
            .filter(KindBesideIndex::new(links::kind).eq(self.kind))
            .filter(IdBesideIndex::new(links::id).lt(bound))
            .into_boxed();
        let query = match &self.slug {
            Some(slug) => query.filter(TextBesideIndex::new(links::slug).eq(slug)),
            None => query,
        };
        self.narrowed(self.searched(query))
    }

    /// Links with some ids, found by id.
    fn among(&self, ids: Vec<StoredId>, at_most: usize) -> Query<'_> {
        self.narrowed(self.all(at_most).filter(links::id.eq_any(ids)))
    }

    /// Those that match group, site, activity and rules, without a look at the indexes of these.
    fn narrowed<'a>(&'a self, mut query: Query<'a>) -> Query<'a> {
        query = match self.group {
            GroupFilter::Any => query,
            GroupFilter::Ungrouped => query.filter(IdBesideIndex::new(links::group_id).is_null()),
            GroupFilter::In(group) => {
                query.filter(IdBesideIndex::new(links::group_id).eq(IdBytes::from(group)))
            }
        };
        if let Some(host) = &self.site {
            query = query.filter(TextBesideIndex::new(links::host).eq(host));
        }
        if let Some(is_active) = self.is_active {
            query = query.filter(FlagBesideIndex::new(links::is_active).eq(is_active));
        }
        if let Some(has_rules) = self.has_rules {
            query = query.filter(FlagBesideIndex::new(links::has_rules).eq(has_rules));
        }
        query
    }

    /// All links that match, from the last to the first.
    fn all(&self, at_most: usize) -> Query<'_> {
        let query = links::table
            .select(LinkRow::as_select())
            .filter(links::account_id.eq(self.account))
            .filter(links::kind.eq(self.kind))
            .order(links::id.desc())
            .limit(signed(at_most))
            .into_boxed();
        self.searched(query)
    }

    /// Those that match the tags, the state, the target's host, the instants and the search.
    fn searched<'a>(&'a self, mut query: Query<'a>) -> Query<'a> {
        let Self { has_password, tags, state, target_host, created, updated, .. } = self;
        query = match has_password {
            None => query,
            // Its index serves if no other filter has one.
            Some(true) => query.filter(WithPassword),
            Some(false) => query.filter(WithoutPassword),
        };
        for tag in tags {
            query = query.filter(tag.clone());
        }
        if let Some(state) = *state {
            query = query.filter(StateCondition::from(state));
        }
        if let Some(host) = target_host {
            query = query.filter(TargetUnder::from(host));
        }
        if let Some(from) = created.from {
            query = query.filter(links::created_at.ge(Instant::from(from)));
        }
        if let Some(to) = created.to {
            query = query.filter(links::created_at.le(Instant::from(to)));
        }
        if let Some(from) = updated.from {
            query = query.filter(links::updated_at.ge(Instant::from(from)));
        }
        if let Some(to) = updated.to {
            query = query.filter(links::updated_at.le(Instant::from(to)));
        }
        match &self.folded {
            None => query,
            Some(folded) => query.filter(link_matches(folded, links::name, links::slug, links::target_url)),
        }
    }
}
