//! The filters of link lists (D126).

use super::*;
use crate::hostname::Hostname;
use crate::life::LinkState;
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
    let names =
        |texts: &[&str]| -> Vec<TagName> { texts.iter().map(|text| TagName::parse(text).unwrap()).collect() };
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
    let link = Link { group_id: Some(group), has_password: true, tags, external_id, ..redirect }.into_any();
    let any = LinkFilter::default;
    let external_id = |text: &str| Some(ExternalId::parse(text).unwrap());
    let search = |text: &str| Some(SearchText::parse(text).unwrap());
    let slug = |text: &str| Some(Slug::parse(text).unwrap());
    let tag = |text: &str| TagFilter { any: vec![TagName::parse(text).unwrap()], ..TagFilter::default() };
    let target_host = |text: &str| Some(TargetHost::parse(text).unwrap());
    let state = |state: LinkState| Some(StateFilter { states: state.into(), at: Timestamp::EPOCH });
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
        (LinkFilter { has_password: Some(true), ..any() }, LinkFilter { has_password: Some(false), ..any() }),
        (LinkFilter { has_rules: Some(false), ..any() }, LinkFilter { has_rules: Some(true), ..any() }),
        (
            LinkFilter { state: state(LinkState::Active), ..any() },
            LinkFilter { state: state(LinkState::Lost), ..any() },
        ),
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

/// Indexes have the links with a password and those with rules, which are few, and none has those without.
#[test]
fn d126_links_with_a_password_or_with_rules_alone_are_no_search() {
    let any = LinkFilter::default;
    for (with, without) in [
        (LinkFilter { has_password: Some(true), ..any() }, LinkFilter { has_password: Some(false), ..any() }),
        (LinkFilter { has_rules: Some(true), ..any() }, LinkFilter { has_rules: Some(false), ..any() }),
    ] {
        assert!(!with.is_search() && without.is_search());
        assert!(LinkFilter { is_active: Some(true), ..with }.is_search());
        let external_id = Some(ExternalId::parse("a").unwrap());
        assert!(!LinkFilter { external_id, ..without }.is_search(), "at most one link has an external id");
    }
    assert!(LinkFilter { has_password: Some(true), has_rules: Some(true), ..any() }.is_search());
}
