//! The filters of link lists (contract "List filters for links", D32).

use crate::external_id::ExternalId;
use crate::id::GroupId;
use crate::link::Link;
use crate::link_id::LinkKind;
use crate::placement::Site;
use crate::search_text::SearchText;
use crate::slug::Slug;
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
    /// `external_id`: only the link that has it (D121).
    pub external_id: Option<ExternalId>,
    /// `tag`, `tag_all` and `without_tag` (D126).
    pub tags: TagFilter,
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
        let Self { group, site, slug, is_active, external_id, tags, target_host, created, updated, search } =
            self;
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
            && tags.matches(&link.tags)
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

    /// Whether a list of this kind may have links. Only redirects have targets.
    #[must_use]
    pub const fn may_match(&self, kind: LinkKind) -> bool {
        self.target_host.is_none() || matches!(kind, LinkKind::Redirect)
    }

    /// Whether the store may have to scan many links for each match: the filter has a text, an instant, several tags or a host that no
    /// index has as a whole, or several filters. A single other filter uses an index, and so does a list without filters. A site with a
    /// slug is an address, which at most one link has, and so has an external id.
    #[must_use]
    pub fn is_search(&self) -> bool {
        let Self { group, site, slug, is_active, external_id, tags, target_host, created, updated, search } =
            self;
        if external_id.is_some() || (site.is_some() && slug.is_some()) {
            return false;
        }
        let is_scan = search.is_some()
            || !created.is_any()
            || !updated.is_any()
            || target_host.as_ref().is_some_and(|host| !host.is_indexed());
        let filters = [
            !matches!(group, GroupFilter::Any),
            site.is_some() || slug.is_some(),
            is_active.is_some(),
            !tags.is_any(),
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
mod tests {
    use super::*;
    use crate::hostname::Hostname;
    use crate::link::AnyContent;
    use crate::link_request::tests::{World, new_redirect};
    use crate::redirect::RedirectContent;

    #[test]
    fn r46_a_text_or_several_filters_make_a_list_a_search() {
        let filter = |group, site, is_active, search: Option<&str>| LinkFilter {
            group: if group { GroupFilter::Ungrouped } else { GroupFilter::Any },
            site: if site { Some(Site::System) } else { None },
            slug: None,
            is_active: if is_active { Some(true) } else { None },
            search: search.map(|text| SearchText::parse(text).unwrap()),
            ..LinkFilter::default()
        };
        for (group, site, is_active, several) in [
            (false, false, false, false),
            (true, false, false, false),
            (false, true, false, false),
            (false, false, true, false),
            (true, true, false, true),
            (true, false, true, true),
            (false, true, true, true),
            (true, true, true, true),
        ] {
            assert_eq!(filter(group, site, is_active, None).is_search(), several);
            assert!(filter(group, site, is_active, Some("x")).is_search());
            let slug = Some(Slug::parse("sale").unwrap());
            let by_slug = LinkFilter { slug: slug.clone(), ..filter(group, false, is_active, None) };
            assert_eq!(by_slug.is_search(), group || is_active);
            let external_id = Some(ExternalId::parse("4711").unwrap());
            let by_external_id = LinkFilter { external_id, ..filter(group, site, is_active, Some("x")) };
            assert!(!by_external_id.is_search(), "at most one link has an external id");
            let by_address = LinkFilter { slug, ..filter(group, true, is_active, Some("x")) };
            assert!(!by_address.is_search(), "at most one link has an address");
        }
    }

    #[test]
    fn d126_only_a_single_tag_alone_is_no_search() {
        let names = |texts: &[&str]| texts.iter().map(|text| TagName::parse(text).unwrap()).collect();
        let filter = |any: &[&str], all: &[&str], none: &[&str]| LinkFilter {
            tags: TagFilter { any: names(any), all: names(all), none: names(none) },
            ..LinkFilter::default()
        };
        for (any, all, none, is_search) in [
            (&["a"][..], &[][..], &[][..], false),
            (&[], &["a"], &[], false),
            (&[], &[], &["a"], true),
            (&["a", "b"], &[], &[], true),
            (&[], &["a", "b"], &[], true),
            (&["a"], &["b"], &[], true),
            (&["a"], &[], &["b"], true),
        ] {
            let filter = filter(any, all, none);
            assert_eq!(filter.is_search(), is_search, "{filter:?}");
            assert_eq!(filter.only_tag().is_some(), !is_search);
            let beside = LinkFilter { is_active: Some(true), ..filter.clone() };
            assert!(beside.is_search() && beside.only_tag().is_none());
            let external_id = Some(ExternalId::parse("a").unwrap());
            assert!(!LinkFilter { external_id, ..filter }.is_search(), "at most one link has an external id");
        }
    }

    #[test]
    fn d126_tags_match_by_any_by_all_and_by_none_in_any_case() {
        let names = |texts: &[&str]| -> Vec<TagName> {
            texts.iter().map(|text| TagName::parse(text).unwrap()).collect()
        };
        let tags = Tags::new(names(&["Red", "blue"])).unwrap();
        for (any, all, none, matches) in [
            (&[][..], &[][..], &[][..], true),
            (&["RED", "x"], &[], &[], true),
            (&["x", "y"], &[], &[], false),
            (&[], &["red", "BLUE"], &[], true),
            (&[], &["red", "x"], &[], false),
            (&[], &[], &["x"], true),
            (&[], &[], &["x", "Blue"], false),
            (&["red"], &["blue"], &["x"], true),
        ] {
            let filter = TagFilter { any: names(any), all: names(all), none: names(none) };
            assert_eq!(filter.matches(&tags), matches, "{filter:?}");
        }
    }

    #[test]
    fn d124_a_link_matches_if_all_filters_do() {
        let redirect = World::new().create::<RedirectContent>(new_redirect()).unwrap();
        let group = GroupId::from_bytes([9; 16]);
        let tags = Tags::new([TagName::parse("Sale").unwrap()]).unwrap();
        let external_id = Some(ExternalId::parse("4711").unwrap());
        let link = Link { group_id: Some(group), tags, external_id, ..redirect }.into_any();
        let any = LinkFilter::default;
        let external_id = |text: &str| Some(ExternalId::parse(text).unwrap());
        let search = |text: &str| Some(SearchText::parse(text).unwrap());
        let slug = |text: &str| Some(Slug::parse(text).unwrap());
        let tag = |text: &str| TagFilter { any: vec![TagName::parse(text).unwrap()], ..TagFilter::default() };
        let target_host = |text: &str| Some(TargetHost::parse(text).unwrap());
        let since = |millis| InstantRange { from: Timestamp::from_unix_millis(millis), to: None };
        let custom = Site::Custom(Hostname::parse("links.example.org").unwrap());
        for (fits, differs) in [
            (
                LinkFilter { group: GroupFilter::In(group), ..any() },
                LinkFilter { group: GroupFilter::Ungrouped, ..any() },
            ),
            (LinkFilter { site: Some(Site::System), ..any() }, LinkFilter { site: Some(custom), ..any() }),
            (LinkFilter { slug: slug("mine"), ..any() }, LinkFilter { slug: slug("Mine"), ..any() }),
            (LinkFilter { is_active: Some(true), ..any() }, LinkFilter { is_active: Some(false), ..any() }),
            (
                LinkFilter { external_id: external_id("4711"), ..any() },
                LinkFilter { external_id: external_id("1"), ..any() },
            ),
            (LinkFilter { tags: tag("SALE"), ..any() }, LinkFilter { tags: tag("mail"), ..any() }),
            (
                LinkFilter { target_host: target_host("EXAMPLE.com"), ..any() },
                LinkFilter { target_host: target_host("example.org"), ..any() },
            ),
            (LinkFilter { created: since(1_000), ..any() }, LinkFilter { created: since(1_001), ..any() }),
            (LinkFilter { updated: since(1_000), ..any() }, LinkFilter { updated: since(1_001), ..any() }),
            (
                LinkFilter { search: search("EXAMPLE.com"), ..any() },
                LinkFilter { search: search("x.org"), ..any() },
            ),
        ] {
            assert!(fits.matches(&link), "{fits:?}");
            assert!(!differs.matches(&link), "{differs:?}");
            let both = LinkFilter { is_active: differs.is_active.or(Some(false)), ..fits };
            assert!(!both.matches(&link), "{both:?}");
        }
        assert!(any().matches(&link));
    }

    #[test]
    fn d126_a_host_alone_is_no_search_if_an_index_has_it() {
        let by_host = |text: &str| LinkFilter {
            target_host: Some(TargetHost::parse(text).unwrap()),
            ..LinkFilter::default()
        };
        for (text, is_search) in [
            ("example.com", false),
            ("a.b.c.example.com", false),
            ("a.b.c.d.example.com", true),
            ("localhost", true),
            ("[::1]", true),
        ] {
            let filter = by_host(text);
            assert_eq!(filter.is_search(), is_search, "{text}");
            let tags = TagFilter { any: vec![TagName::parse("a").unwrap()], ..TagFilter::default() };
            let tagged = LinkFilter { tags, ..filter.clone() };
            assert!(tagged.is_search() && tagged.only_tag().is_none(), "{text}");
            assert!(LinkFilter { is_active: Some(true), ..filter.clone() }.is_search(), "{text}");
            let external_id = Some(ExternalId::parse("a").unwrap());
            assert!(!LinkFilter { external_id, ..filter }.is_search(), "at most one link has an external id");
        }
    }

    #[test]
    fn d126_no_landing_page_has_a_target() {
        let target_host = Some(TargetHost::parse("example.com").unwrap());
        let filter = LinkFilter { target_host, ..LinkFilter::default() };
        let may_match =
            |filter: &LinkFilter| [LinkKind::Redirect, LinkKind::Landing].map(|kind| filter.may_match(kind));
        assert_eq!(may_match(&filter), [true, false]);
        assert_eq!(may_match(&LinkFilter::default()), [true, true]);
        let redirect = World::new().create::<RedirectContent>(new_redirect()).unwrap().into_any();
        assert!(filter.matches(&redirect));
        let landing = Link { content: AnyContent::Landing, ..redirect };
        assert!(LinkFilter::default().matches(&landing) && !filter.matches(&landing));
    }

    #[test]
    fn d126_ranges_include_both_ends_and_make_a_list_a_search() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        let range = InstantRange { from: Some(at(5)), to: Some(at(7)) };
        let contained = [4, 5, 6, 7, 8].map(|millis| range.contains(at(millis)));
        assert_eq!(contained, [false, true, true, true, false]);
        assert!(InstantRange::default().contains(Timestamp::EPOCH) && InstantRange::default().is_any());
        assert!(!InstantRange { from: Some(at(5)), to: Some(at(4)) }.contains(at(5)));
        let after = InstantRange { from: Some(at(5)), to: None };
        for filter in [
            LinkFilter { created: after, ..LinkFilter::default() },
            LinkFilter { updated: after, ..LinkFilter::default() },
        ] {
            assert!(filter.is_search());
            let external_id = Some(ExternalId::parse("a").unwrap());
            assert!(!LinkFilter { external_id, ..filter }.is_search(), "at most one link has an external id");
        }
    }
}
