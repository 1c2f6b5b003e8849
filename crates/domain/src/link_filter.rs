//! The filters of link lists (contract "List filters for links", D32).

use crate::external_id::ExternalId;
use crate::id::GroupId;
use crate::link::Link;
use crate::link_id::LinkKind;
use crate::placement::Site;
use crate::search_text::SearchText;
use crate::slug::Slug;
use crate::state_filter::StateFilter;
use crate::tag::{TagName, Tags};
use crate::target_host::TargetHost;
use crate::target_url::TargetUrl;
use crate::timestamp::Timestamp;

/// The filters of a link list, which must all match. The default shows every link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFilter {
    /// `group_id`
    pub group: GroupFilter,
    /// `domain`: only links that live there.
    pub site: Option<Site>,
    /// `slug`: only links with exactly this slug, wherever they live, lost ones included.
    pub slug: Option<Slug>,
    /// `is_active`
    pub is_active: Option<bool>,
    /// `has_password`: only links with, or only links without a password (D126).
    pub has_password: Option<bool>,
    /// `state` (D126).
    pub state: Option<StateFilter>,
    /// `external_id`: only the link that has it (D121).
    pub external_id: Option<ExternalId>,
    /// `tag`, `tag_all` and `without_tag` (D126).
    pub tags: TagFilter,
    /// `has_rules`: only links with rules, or without (D126). Landing pages have none.
    pub has_rules: Option<bool>,
    /// `target_host`: only redirects whose target it covers (D126).
    pub target_host: Option<TargetHost>,
    /// `created_after` and `created_before` (D126).
    pub created: InstantRange,
    /// `updated_after` and `updated_before` (D126).
    pub updated: InstantRange,
    /// `q`: only links whose name or title, slug or target contains this.
    pub search: Option<SearchText>,
}

impl LinkFilter {
    /// Whether a link is in the list.
    #[must_use]
    pub fn matches(&self, link: &Link) -> bool {
        let Self {
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
        } = self;
        let in_group = match group {
            GroupFilter::Any => true,
            GroupFilter::Ungrouped => link.group_id.is_none(),
            GroupFilter::In(group) => link.group_id == Some(*group),
        };
        in_group
            && site
                .as_ref()
                .is_none_or(|site| link.placement.address().is_some_and(|address| address.site == *site))
            && slug.as_ref().is_none_or(|slug| link.placement.slug() == Some(slug))
            && external_id.as_ref().is_none_or(|id| link.external_id.as_ref() == Some(id))
            && is_active.is_none_or(|is_active| link.is_active == is_active)
            && has_password.is_none_or(|has_password| link.has_password == has_password)
            && state.is_none_or(|state| state.matches(link))
            && tags.matches(&link.tags)
            && has_rules.is_none_or(|has_rules| link.has_rules() == has_rules)
            && target_host
                .as_ref()
                .is_none_or(|host| link.target_url().is_some_and(|target| host.covers(target)))
            && created.contains(link.created_at)
            && updated.contains(link.updated_at)
            && search.as_ref().is_none_or(|search| {
                let slug = link.placement.slug().map(Slug::as_str);
                search.matches(link.name.as_str(), slug, link.target_url().map(TargetUrl::as_str))
            })
    }

    /// Whether a list of this kind may have links. Only redirects have targets, rules and limits of clicks.
    #[must_use]
    pub const fn may_match(&self, kind: LinkKind) -> bool {
        let may_have_state = match self.state {
            Some(filter) => filter.states.are_of(kind),
            None => true,
        };
        let is_any = self.target_host.is_none() && !matches!(self.has_rules, Some(true));
        may_have_state && (is_any || matches!(kind, LinkKind::Redirect))
    }

    /// Whether the store may have to scan many links for each match: the filter has a text, an instant, several tags, or links without
    /// rules, a state or a host that no index has as a whole, or several filters. A single other filter uses an index, and so does a list
    /// without filters. A site with a slug is an address, which at most one link has, and so has an external id.
    #[must_use]
    pub fn is_search(&self) -> bool {
        let Self {
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
        } = self;
        if external_id.is_some() || (site.is_some() && slug.is_some()) {
            return false;
        }
        let is_scan = search.is_some()
            || !created.is_any()
            || !updated.is_any()
            // Only links with a password or with rules have an index.
            || *has_password == Some(false)
            || *has_rules == Some(false)
            || state.is_some_and(StateFilter::is_scan)
            || target_host.as_ref().is_some_and(|host| !host.is_indexed());
        let filters = [
            !matches!(group, GroupFilter::Any),
            site.is_some() || slug.is_some(),
            is_active.is_some(),
            has_password.is_some(),
            state.is_some(),
            !tags.is_any(),
            has_rules.is_some(),
            target_host.is_some(),
        ];
        let is_several = filters.into_iter().filter(|is_used| *is_used).count() > 1;
        is_scan || is_several || (!tags.is_any() && tags.single().is_none())
    }

    /// The tag that all links of the list have, if the filter asks for nothing else. Its links are a range of an index.
    #[must_use]
    pub fn only_tag(&self) -> Option<&TagName> {
        let without_tags = Self { tags: TagFilter::default(), ..self.clone() };
        self.tags.single().filter(|_| without_tags == Self::default())
    }
}

/// Instants between two, both included. The default has every instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstantRange {
    /// The first instant.
    pub from: Option<Timestamp>,
    /// The last instant.
    pub to: Option<Timestamp>,
}

impl InstantRange {
    /// Whether the range has every instant.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Whether `instant` is in the range.
    #[must_use]
    pub fn contains(&self, instant: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= instant) && self.to.is_none_or(|to| instant <= to)
    }
}

/// The filter by tags. The default has every link. A name that no tag has is a tag without links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagFilter {
    /// `tag`: only links with at least one of these, unless there is none.
    pub any: Vec<TagName>,
    /// `tag_all`: only links with all of these.
    pub all: Vec<TagName>,
    /// `without_tag`: only links with none of these.
    pub none: Vec<TagName>,
}

impl TagFilter {
    /// Whether the filter has every link.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        let Self { any, all, none } = self;
        any.is_empty() && all.is_empty() && none.is_empty()
    }

    /// The tag whose links are exactly those of the filter.
    #[must_use]
    pub const fn single(&self) -> Option<&TagName> {
        match (self.any.as_slice(), self.all.as_slice(), self.none.as_slice()) {
            ([one], [], []) | ([], [one], []) => Some(one),
            _ => None,
        }
    }

    /// Whether a link with these tags matches.
    #[must_use]
    pub fn matches(&self, tags: &Tags) -> bool {
        let Self { any, all, none } = self;
        let has = |name: &TagName| tags.contains(name);
        (any.is_empty() || any.iter().any(has)) && all.iter().all(has) && !none.iter().any(has)
    }
}

/// The filter by group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupFilter {
    /// All links, with or without a group.
    #[default]
    Any,
    /// Links without a group.
    Ungrouped,
    /// Links of this group. Matches nothing if the account has no such group.
    In(GroupId),
}

#[cfg(test)]
#[path = "link_filter_tests.rs"]
mod tests;
