//! The filters of link lists (contract "List filters for links", D32).

use std::collections::BTreeSet;

use signpost_domain::{
    GroupFilter, GroupId, Landing, Link, LinkFilter, LinkId, LinkKind, Redirect, SearchText, Site, TargetUrl,
};

use super::fixture::Fresh;
use super::given::{self, KINDS};
use super::stored;
use crate::samples;

cases! {
    $ link_filters
    filters_combine
    ids_match_the_lists
    a_search_finds_substrings
    landing_pages_are_searched_by_title_and_slug
    filters_see_the_latest_state
    the_slug_filter_matches_whole_slugs_on_any_domain
}

pub(super) fn searched(text: &str) -> LinkFilter {
    LinkFilter { search: Some(SearchText::parse(text).unwrap()), ..LinkFilter::default() }
}

/// Alternating links of both kinds that differ in every filtered property.
pub(super) fn links_of_all_sorts(groups: [GroupId; 2]) -> Vec<Link> {
    let link = |number: usize| {
        let text =
            if (number / 2).is_multiple_of(2) { format!("Red-{number}") } else { format!("blue-{number}") };
        let placement = match number / 2 % 5 {
            0 | 1 => samples::on_system(&text),
            2 => samples::on_custom("a.example.net", Some(&text)),
            3 => samples::on_custom("b.example.net", Some(&text)),
            _ => samples::lost(Some(&text)),
        };
        let name = samples::name(&format!("Link {number}"));
        let group_id = [None, Some(groups[0]), Some(groups[1])][number / 2 % 3];
        let is_active = number / 2 % 7 < 4;
        match KINDS[number % 2] {
            LinkKind::Landing => {
                Landing { name, placement, group_id, is_active, ..samples::landing(&text) }.into_any()
            }
            LinkKind::Redirect => {
                Redirect { name, placement, group_id, is_active, ..samples::redirect(&text) }.into_any()
            }
        }
    };
    (0..192).map(link).collect()
}

/// A model of the filters for one link; `search` is the text of the filter.
pub(super) fn passes(link: &Link, filter: &LinkFilter, search: Option<&str>) -> bool {
    let in_group = match filter.group {
        GroupFilter::Any => true,
        GroupFilter::Ungrouped => link.group_id.is_none(),
        GroupFilter::In(group) => link.group_id == Some(group),
    };
    let site = link.placement.address().map(|address| address.site);
    let lives_there = filter.site.is_none() || filter.site == site;
    let found = search.is_none_or(|text| {
        let slug = link.placement.slug().unwrap().as_str();
        let fields = [Some(link.name.as_str()), Some(slug), link.target_url().map(TargetUrl::as_str)];
        let text = text.to_lowercase();
        fields.into_iter().flatten().any(|field| field.to_lowercase().contains(&text))
    });
    let named = filter.slug.as_ref().is_none_or(|slug| link.placement.slug() == Some(slug));
    in_group && lives_there && named && filter.is_active.is_none_or(|is| link.is_active == is) && found
}

/// All filters apply at once, in pages of any size, in the list of each kind. The answers are compared with a model that
/// checks all links.
pub(super) async fn filters_combine(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let foreign = given::group(&store, other).await.id;
    let groups = given::two_groups(&store, account).await;
    let mut links = links_of_all_sorts(groups);
    given::links(&store, account, &links).await;
    links.reverse();

    let host = |text| Site::Custom(samples::hostname(text));
    let group_filters = [GroupFilter::Any, GroupFilter::Ungrouped]
        .into_iter()
        .chain([groups[0], groups[1], foreign, samples::id()].map(GroupFilter::In));
    let sites = [None, Some(Site::System), Some(host("a.example.net")), Some(host("no.example.net"))];
    // The text of the search, and the slug.
    let texts = [
        (None, None),
        (Some("red"), None),
        (Some("K 1"), None),
        (Some("EXAMPLE.com/BLUE"), None),
        (Some("nowhere"), None),
        (None, Some("Red-0")),
        (None, Some("Red-9")),
        (None, Some("blue-30")),
        (None, Some("red-0")),
        (Some("link"), Some("blue-3")),
        (Some("nowhere"), Some("blue-3")),
    ];
    let mut full_pages = [0, 0];
    for group in group_filters {
        for site in &sites {
            for is_active in [None, Some(true), Some(false)] {
                for (text, slug) in texts {
                    let search = text.map(|text| SearchText::parse(text).unwrap());
                    let slug = slug.map(samples::slug);
                    let filter = LinkFilter {
                        group,
                        site: site.clone(),
                        slug,
                        is_active,
                        search,
                        ..LinkFilter::default()
                    };
                    for (kind, full_pages) in KINDS.into_iter().zip(&mut full_pages) {
                        let of_kind = links.iter().filter(|link| link.kind() == kind);
                        let expected: Vec<Link> =
                            of_kind.filter(|link| passes(link, &filter, text)).cloned().collect();
                        *full_pages += expected.len() / 5;
                        for items in [5, 100] {
                            let shown = stored::list(&store, account, kind, &filter, items).await;
                            assert_eq!(shown, expected, "{filter:?}");
                        }
                        assert_eq!(stored::list(&store, other, kind, &filter, 100).await, []);
                    }
                }
            }
        }
    }
    assert!(full_pages.iter().all(|pages| *pages > 100), "{full_pages:?}");
}

/// `q` is a substring of name, slug or target, ignoring Unicode case; no character in it is a wildcard.
pub(super) async fn a_search_finds_substrings(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let named = |name: &str, slug| Redirect { name: samples::name(name), ..samples::redirect(slug) };
    let links = [
        named("Straße nach Köln", "s1"),
        named("ΟΔΟΣ ΑΘΗΝΩΝ", "s2"),
        named("100% off_today", "s3"),
        named("a*b?c[d]e\\f'g\"h", "s4"),
        named("Ꮳꮃꭹ cherokee", "s5"),
        named("two  spaces", "Summer_Sale-24"),
        named("plain", "s7")
            .with(|content| content.target_url = samples::target("https://example.org/Über/?Q=%C3%A9")),
        Redirect { placement: samples::lost(Some("LostSlug")), ..named("lost", "x1") },
        Redirect { placement: samples::lost(None), ..named("lost root", "x2") },
        Redirect { placement: samples::on_custom("needle.example.net", None), ..named("root", "x3") },
        Redirect { note: Some(samples::note("needle")), ..named("noted", "s11") },
        named(&"ß".repeat(100), "s12"),
        named("Cafe\u{301} A\u{30a}ngstro\u{308}m", "s13"),
        named("Caf\u{e9} \u{c5}ngstr\u{f6}m", "s14"),
    ];
    given::links(&store, account, &links).await;
    // A landing page with the same words appears only in its own list.
    given::link(&store, account, Landing { name: samples::name("K%_\\'ß two"), ..samples::landing("s1-x") })
        .await;
    let longest = "ß".repeat(100);
    for (text, expected) in [
        ("straße", &[0][..]),
        ("STRASSE", &[0]),
        ("KÖLN", &[0]),
        ("koln", &[]),
        ("οδος αθηνων", &[1]),
        ("Οδοσ", &[1]),
        ("%", &[2, 6]),
        ("100%", &[2]),
        ("_today", &[2]),
        ("f_t", &[2]),
        ("a%b", &[]),
        ("s_", &[]),
        ("a*b", &[3]),
        ("?c[d]", &[3]),
        ("[d]", &[3]),
        ("\\", &[3]),
        ("'", &[3]),
        ("\"H", &[3]),
        ("ᏣᎳᎩ", &[4]),
        ("two spaces", &[]),
        ("TWO  SPACES", &[5]),
        ("mer_sale-", &[5]),
        ("über/?q=%c3", &[6]),
        ("EXAMPLE.ORG", &[6]),
        ("lostslug", &[7]),
        ("lost", &[7, 8]),
        ("needle", &[]),
        ("plains7", &[]),
        ("plainhttps", &[]),
        (&longest, &[11]),
        ("ssss", &[11]),
        ("CAF\u{c9} \u{c5}NG", &[12, 13]),
        ("cafe\u{301} a\u{30a}ng", &[12, 13]),
        ("afe", &[]),
        ("\u{212b}ngstro\u{308}", &[12, 13]),
    ] {
        let mut found = stored::list(&store, account, LinkKind::Redirect, &searched(text), 3).await;
        found.reverse();
        let expected: Vec<Link> = expected.iter().map(|position| links[*position].clone().into()).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// A landing page has no target, so a search finds it by title and slug.
pub(super) async fn landing_pages_are_searched_by_title_and_slug(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let titled = |title: &str, slug| Landing { name: samples::name(title), ..samples::landing(slug) };
    let links = [
        titled("Straße nach Köln", "s1"),
        titled("ΟΔΟΣ ΑΘΗΝΩΝ", "s2"),
        titled("100% off_today", "Summer_Sale-24"),
        Landing { placement: samples::lost(Some("LostSlug")), ..titled("gone", "x1") },
        Landing { placement: samples::lost(None), ..titled("gone root", "x2") },
        Landing { placement: samples::on_custom("needle.example.net", None), ..titled("root", "x3") },
        Landing { note: Some(samples::note("needle")), ..titled("noted", "s6") },
    ];
    given::links(&store, account, &links).await;
    // A redirect, which has a target.
    given::link(&store, account, samples::redirect("needle")).await;
    for (text, expected) in [
        ("STRASSE", &[0][..]),
        ("οδοσ", &[1]),
        ("%", &[2]),
        ("mer_sale-", &[2]),
        ("f_t", &[2]),
        ("lostslug", &[3]),
        ("gone", &[3, 4]),
        ("O", &[2, 3, 4, 5, 6]),
        ("needle", &[]),
        ("https://", &[]),
        ("example.com", &[]),
        ("null", &[]),
        ("/", &[]),
        (".", &[]),
        ("koln", &[]),
        ("s1straße", &[]),
        ("kölns1", &[]),
    ] {
        let mut found = stored::list(&store, account, LinkKind::Landing, &searched(text), 2).await;
        found.reverse();
        let expected: Vec<Link> = expected.iter().map(|position| links[*position].clone().into()).collect();
        assert_eq!(found, expected, "{text}");
    }
    for text in ["needle", "https://", "/", "."] {
        let found = stored::list(&store, account, LinkKind::Redirect, &searched(text), 100).await;
        assert_eq!(found.len(), 1, "{text}");
    }
}

/// Searches and filters use the currently stored values.
pub(super) async fn filters_see_the_latest_state(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let redirect = given::link(&store, account, samples::redirect("before")).await;
    given::link(&store, account, samples::redirect("bystander")).await;
    let landing = given::link(&store, account, samples::landing("before-page")).await;
    given::link(&store, account, samples::landing("bystanding-page")).await;
    let redirect = Redirect {
        name: samples::name("After"),
        placement: samples::on_custom("a.example.net", None),
        group_id: Some(group),
        is_active: false,
        ..redirect
    }
    .with(|content| content.target_url = samples::target("https://example.org/changed"));
    let landing = Landing {
        name: samples::name("After"),
        placement: samples::on_custom("a.example.net", Some("changed")),
        group_id: Some(group),
        is_active: false,
        ..landing
    };
    for link in [redirect.into_any(), landing.into_any()] {
        given::update_link(&store, account, &link).await.unwrap();
        for filter in [
            searched("AFTER"),
            searched("changed"),
            LinkFilter { group: GroupFilter::In(group), ..LinkFilter::default() },
            LinkFilter { is_active: Some(false), ..LinkFilter::default() },
            LinkFilter {
                slug: link.placement.slug().cloned(),
                is_active: Some(false),
                ..LinkFilter::default()
            },
            LinkFilter {
                site: Some(Site::Custom(samples::hostname("a.example.net"))),
                ..LinkFilter::default()
            },
        ] {
            let shown = stored::list(&store, account, link.kind(), &filter, 100).await;
            assert_eq!(shown, std::slice::from_ref(&link), "{filter:?}");
        }
        assert_eq!(stored::list(&store, account, link.kind(), &searched("before"), 100).await, []);
    }
}

/// `slug` matches the whole slug, case-sensitively, on the system domain, on custom domains and of lost links. A root has
/// no slug.
pub(super) async fn the_slug_filter_matches_whole_slugs_on_any_domain(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let slug = format!("sale-{kind:?}");
        let placements = [
            samples::on_system(&slug),
            samples::on_custom("a.example.net", Some(&slug)),
            samples::lost(Some(&slug)),
            samples::lost(Some(&slug)),
            samples::on_custom("b.example.net", Some(&slug)),
        ];
        let mut links = placements.map(|placement| samples::link_at(kind, placement));
        given::links(&store, account, &links).await;
        links.reverse();
        let near = [
            samples::on_system(&slug.to_lowercase()),
            samples::on_system(&slug.to_uppercase()),
            samples::on_system(&format!("{slug}s")),
            samples::on_system(&format!("a{slug}")),
            samples::lost(None),
        ];
        given::links(&store, account, &near.map(|placement| samples::link_at(kind, placement))).await;
        let theirs = samples::link_at(kind, samples::on_custom("c.example.net", Some(&slug)));
        given::link(&store, other, theirs.clone()).await;

        let by_slug = LinkFilter { slug: Some(samples::slug(&slug)), ..LinkFilter::default() };
        for items in [1, 2, 100] {
            assert_eq!(stored::list(&store, account, kind, &by_slug, items).await, links);
        }
        assert_eq!(stored::list(&store, other, kind, &by_slug, 100).await, [theirs]);
        assert_eq!(stored::list(&store, account, given::other(kind), &by_slug, 100).await, []);
        for (site, expected) in [
            (Site::System, vec![links[4].clone()]),
            (Site::Custom(samples::hostname("a.example.net")), vec![links[3].clone()]),
            (Site::Custom(samples::hostname("c.example.net")), vec![]),
        ] {
            let by_address = LinkFilter { site: Some(site), ..by_slug.clone() };
            assert_eq!(stored::list(&store, account, kind, &by_address, 1).await, expected);
        }
    }
}

/// The ids of links in a group and on a site equal those of the lists of both kinds, up to the requested number.
pub(super) async fn ids_match_the_lists(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let links = links_of_all_sorts(groups);
    given::links(&store, account, &links).await;
    given::links(&store, other, &[samples::redirect("foreign")]).await;

    let sites = [None, Some(Site::System), Some(Site::Custom(samples::hostname("b.example.net")))];
    for group in
        [GroupFilter::Any, GroupFilter::Ungrouped, GroupFilter::In(groups[1]), GroupFilter::In(samples::id())]
    {
        for site in &sites {
            let filter = LinkFilter { group, site: site.clone(), ..LinkFilter::default() };
            let expected: BTreeSet<LinkId> =
                links.iter().filter(|link| passes(link, &filter, None)).map(Link::id).collect();
            let ids = store.link_ids(account, group, site.as_ref(), links.len()).await.unwrap();
            assert_eq!(ids.len(), expected.len(), "{filter:?}");
            assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), expected, "{filter:?}");
            let some = store.link_ids(account, group, site.as_ref(), 3).await.unwrap();
            assert_eq!(some.len(), expected.len().min(3), "{filter:?}");
            assert!(some.iter().all(|id| expected.contains(id)), "{filter:?}");
        }
    }
}
