//! Lists of the redirects to a host (D126).

use std::collections::BTreeSet;

use signpost_domain::{
    GroupFilter, Link, LinkFilter, LinkKind, PageLimit, Redirect, SearchText, Site, TagFilter, TargetHost,
};

use super::fixture::Fresh;
use super::given::{self, unit};
use super::stored;
use super::tags::{given_links, name, tags};
use crate::samples;

cases! {
    $ target_hosts
    a_list_has_the_redirects_to_a_host_page_by_page
    hosts_are_found_as_the_domain_compares_them
    a_redirect_is_found_by_the_host_of_its_latest_target
    hosts_filter_beside_other_filters
    a_unit_of_work_reads_a_thousand_redirects_to_a_host
}

fn by_host(text: &str) -> LinkFilter {
    LinkFilter { target_host: Some(TargetHost::parse(text).unwrap()), ..LinkFilter::default() }
}

fn to(slug: &str, target: &str) -> Redirect {
    samples::redirect(slug).with(|content| content.target_url = samples::target(target))
}

/// Newest first, whatever subdomain each has, and without other accounts' redirects and landing pages.
pub(super) async fn a_list_has_the_redirects_to_a_host_page_by_page(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let hosts = [
        "example.com",
        "www.example.com",
        "a.b.example.com",
        "EXAMPLE.com:8080",
        "example.org",
        "com.example",
    ];
    let mut expected = Vec::new();
    for number in 0..18_usize {
        let host = hosts[number * 5 % hosts.len()];
        let link =
            given::link(&store, account, to(&format!("s{number}"), &format!("https://{host}/{number}")))
                .await;
        if host.to_lowercase().contains("example.com") {
            expected.insert(0, link.into_any());
        }
    }
    given::link(&store, account, samples::landing("page")).await;
    given::link(&store, other, to("theirs", "https://example.com/")).await;
    assert_eq!(expected.len(), 12);
    for items in [1, 2, 5, 12, 100] {
        let found = stored::list(&store, account, LinkKind::Redirect, &by_host("Example.com"), items).await;
        assert_eq!(found, expected, "{items}");
    }
    for kind in given::KINDS {
        let found = stored::list(&store, account, kind, &by_host("example.net"), 2).await;
        assert_eq!(found, [], "{kind:?}");
    }
    let pages = stored::list(&store, account, LinkKind::Landing, &by_host("example.com"), 2).await;
    assert_eq!(pages, [], "landing pages have no target");
}

/// The domain's rule decides, for any number of labels, every kind of host, and every spelling.
pub(super) async fn hosts_are_found_as_the_domain_compares_them(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let long = format!("{}example", "a.".repeat(120));
    let long_target = format!("https://{long}/");
    let targets = [
        "http://localhost",
        "http://LOCALHOST:8080/",
        "http://api.localhost?a.b.c=d.e.f",
        "https://example.com#a.b/c.d",
        "https://Example.COM.",
        "https://example.com.:443/x:y@z",
        "https://notexample.com/example.com",
        "https://example.com.example.net/",
        "https://www.example.com/www.example.net",
        "https://c.b.a.example.com/",
        "https://d.c.b.a.example.com/",
        "https://e.d.c.b.a.example.com/",
        "https://x.d.c.b.a.example.com/",
        "https://my_site.co.uk/",
        "https://b\u{fc}cher.example/",
        "https://B\u{dc}CHER.example",
        "https://XN--BCHER-KVA.example/",
        "https://shop.b\u{fc}cher.example/",
        "https://b\u{fc}cher.shop.example/",
        "https://\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}:8443/\u{30d1}\u{30b9}",
        "http://192.0.2.1/",
        "http://192.0.2.10:80",
        "http://[2001:DB8:0::1]:80/",
        "http://[2001:db8::1]",
        "http://[::ffff:192.0.2.1]/",
        &long_target,
    ];
    let mut numbers = 0_usize..;
    let mut links: Vec<Link> =
        targets.map(|target| to(&format!("s{}", numbers.next().unwrap()), target).into_any()).to_vec();
    given::links(&store, account, &links).await;
    links.reverse();
    let mut found_lists = BTreeSet::new();
    for text in [
        "localhost",
        "com",
        "example",
        "uk",
        "example.com",
        "EXAMPLE.COM.",
        "www.example.com",
        "example.net",
        "ple.com",
        "a.example.com",
        "b.a.example.com",
        "c.b.a.example.com",
        "d.c.b.a.example.com",
        "e.d.c.b.a.example.com",
        "f.e.d.c.b.a.example.com",
        "my_site.co.uk",
        "y_site.co.uk",
        "b\u{fc}cher.example",
        "xn--bcher-kva.example",
        "shop.b\u{fc}cher.example",
        "shop.example",
        "\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}",
        "192.0.2.1",
        "[2001:db8::1]",
        "[::FFFF:192.0.2.1]",
        "a.example",
        "a.a.a.a.example",
        "a.a.a.a.a.a.a.example",
        &long,
    ] {
        let filter = by_host(text);
        let expected: Vec<Link> = links.iter().filter(|link| filter.matches(link)).cloned().collect();
        for items in [2, 100] {
            let found = stored::list(&store, account, LinkKind::Redirect, &filter, items).await;
            assert_eq!(found, expected, "{text}");
        }
        found_lists.insert(given::ids(&expected));
    }
    assert!(found_lists.len() > 18, "{found_lists:?}");
}

/// However it was changed: alone, in a batch, or with its host only.
pub(super) async fn a_redirect_is_found_by_the_host_of_its_latest_target(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links = [
        to("a", "https://example.com/"),
        to("b", "https://b\u{fc}cher.example/"),
        to("c", "http://[::1]/"),
        to("d", "https://a.b.c.example.com/"),
    ];
    given::links(&store, account, &links).await;
    let found = async |text: &str| {
        let found = stored::list(&store, account, LinkKind::Redirect, &by_host(text), 100).await;
        let slugs = found.iter().map(|link| link.placement.slug().unwrap().as_str().to_owned());
        slugs.collect::<String>()
    };
    assert_eq!(
        [found("example.com").await, found("b\u{fc}cher.example").await, found("[::1]").await],
        ["da", "b", "c"]
    );
    let targets = [
        [
            "https://b\u{fc}cher.example/x",
            "https://example.org/",
            "https://example.com/",
            "http://192.0.2.1/",
        ],
        ["https://example.net/", "https://\u{fc}.example.net/", "http://[::2]/", "https://example.net/d"],
    ];
    let change = |link: &Redirect, target: &str| {
        let mut after = link.clone().with(|content| content.target_url = samples::target(target));
        after.mark_changed(samples::at(5));
        after.into_any()
    };
    for (link, target) in links.iter().zip(targets[0]) {
        given::update_link(&store, account, &change(link, target)).await.unwrap();
    }
    let expected = [("example.com", "c"), ("b\u{fc}cher.example", "a"), ("[::1]", ""), ("example.org", "b")];
    for (text, slugs) in expected {
        assert_eq!(found(text).await, slugs, "{text}");
    }
    let after: Vec<Link> = links.iter().zip(targets[1]).map(|(link, target)| change(link, target)).collect();
    let updated = unit!(&store, async |work| {
        let locked = given::sorted(work.lock_links(account, &given::ids(&after)).await?);
        let changes: Vec<(&Link, &Link)> = locked.iter().zip(&after).collect();
        Ok(work.update_links(account, &changes).await?)
    });
    assert_eq!(updated.await, Ok(()));
    let expected = [
        ("example.net", "dba"),
        ("\u{fc}.example.net", "b"),
        ("[::2]", "c"),
        ("example.com", ""),
        ("example.org", ""),
        ("b\u{fc}cher.example", ""),
    ];
    for (text, slugs) in expected {
        assert_eq!(found(text).await, slugs, "{text}");
    }
    assert!(given::delete_link(&store, account, links[3].id).await);
    assert_eq!(found("example.net").await, "ba");
}

/// Each other filter may choose which links are read, or the host.
pub(super) async fn hosts_filter_beside_other_filters(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let external_id = signpost_domain::ExternalId::parse("4711").unwrap();
    let like = to("sought", "https://a.b.c.d.example.com/").into_any();
    let sought =
        Link { group_id: Some(group), external_id: Some(external_id.clone()), tags: tags(&["t"]), ..like };
    let elsewhere = Link { group_id: Some(group), ..to("elsewhere", "https://example.org/").into_any() };
    let unlike = Link {
        is_active: false,
        placement: samples::on_custom("a.example.net", Some("unlike")),
        ..to("unlike", "https://d.example.com/sought").into_any()
    };
    let [sought, _, unlike] = given_links(&store, account, [sought, elsewhere, unlike]).await;
    let every = LinkFilter::default();
    let (slug, site) = (Some(samples::slug("sought")), Some(Site::System));
    let search = |text: &str| Some(SearchText::parse(text).unwrap());
    let tag = TagFilter { any: vec![name("T")], ..TagFilter::default() };
    let beside = [
        every.clone(),
        LinkFilter { group: GroupFilter::In(group), ..every.clone() },
        LinkFilter { is_active: Some(true), ..every.clone() },
        LinkFilter { site: site.clone(), ..every.clone() },
        LinkFilter { slug: slug.clone(), ..every.clone() },
        LinkFilter { site: site.clone(), slug, ..every.clone() },
        LinkFilter { external_id: Some(external_id), ..every.clone() },
        LinkFilter { tags: tag.clone(), ..every.clone() },
        LinkFilter { search: search("sought"), ..every.clone() },
        LinkFilter { search: search("so"), site: site.clone(), ..every.clone() },
        LinkFilter { tags: tag, site, is_active: Some(true), search: search("ough"), ..every.clone() },
    ];
    for other in beside {
        for (text, is_found) in [
            ("example.com", true),
            ("b.c.d.example.com", true),
            ("a.b.c.d.example.com", true),
            ("com", true),
            ("b.a.b.c.d.example.com", false),
            ("x.b.c.d.example.com", false),
            ("example.net", false),
            ("org", false),
        ] {
            let filter = LinkFilter { target_host: by_host(text).target_host, ..other.clone() };
            let found = stored::list(&store, account, LinkKind::Redirect, &filter, 100).await;
            assert_eq!(found.contains(&sought), is_found, "{filter:?}");
            assert!(found.iter().all(|link| filter.matches(link)), "{filter:?}");
        }
    }
    for other in [
        LinkFilter { is_active: Some(false), ..every.clone() },
        LinkFilter { group: GroupFilter::Ungrouped, ..every.clone() },
        LinkFilter { site: Some(Site::Custom(samples::hostname("a.example.net"))), ..every },
    ] {
        let filter = LinkFilter { target_host: by_host("example.com").target_host, ..other };
        let found = stored::list(&store, account, LinkKind::Redirect, &filter, 100).await;
        assert_eq!(found, std::slice::from_ref(&unlike), "{filter:?}");
    }
}

/// As a change by filter does (D124).
pub(super) async fn a_unit_of_work_reads_a_thousand_redirects_to_a_host(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let limit = PageLimit::OF_UNIT_OF_WORK;
    let link = |number: usize| to(&format!("s{number}"), &format!("https://h{}.example.com/", number % 7));
    let mut links: Vec<Link> = (0..=usize::from(limit.get())).map(|number| link(number).into_any()).collect();
    given::links(&store, account, &links).await;
    given::links(&store, account, &[to("last", "https://example.org/").into_any()]).await;
    let page = store.links(account, LinkKind::Redirect, &by_host("example.com"), limit, None).await.unwrap();
    assert!(page.next.is_some(), "the oldest link is on the next page");
    links.reverse();
    let oldest = links.pop();
    assert_eq!(page.items, links);
    let rest = store.links(account, LinkKind::Redirect, &by_host("example.com"), limit, page.next).await;
    assert_eq!(rest.unwrap().items, oldest.as_slice());
}
