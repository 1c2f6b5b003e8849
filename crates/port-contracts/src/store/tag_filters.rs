//! Lists of links with or without some tags (D126).

use signpost_domain::{GroupFilter, Link, LinkFilter, LinkKind, SearchText, Site, TagFilter, TagName};

use super::fixture::Fresh;
use super::given::{self, KINDS};
use super::stored;
use super::tags::{given_links, name, tagged, tags};
use crate::samples;

cases! {
    $ tag_filters
    a_list_has_the_links_of_a_tag_page_by_page
    lists_filter_by_any_all_and_none_of_some_tags
    tags_filter_beside_other_filters
}

fn names(texts: &[&str]) -> Vec<TagName> {
    texts.iter().map(|text| name(text)).collect()
}

fn filter(any: &[&str], all: &[&str], none: &[&str]) -> LinkFilter {
    let tags = TagFilter { any: names(any), all: names(all), none: names(none) };
    LinkFilter { tags, ..LinkFilter::default() }
}

/// Newest first, each kind by itself, and no links of other accounts.
pub(super) async fn a_list_has_the_links_of_a_tag_page_by_page(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut expected = [Vec::new(), Vec::new()];
    for number in 0..14_usize {
        let kind = usize::from(number % 3 == 0);
        let its_tags: &[&str] = if number % 2 == 0 { &["Sale", "x"] } else { &["x"] };
        let [link] =
            given_links(&store, account, [tagged(KINDS[kind], &format!("s{number}"), its_tags)]).await;
        if number % 2 == 0 {
            expected[kind].insert(0, link);
        }
    }
    given_links(&store, other, KINDS.map(|kind| tagged(kind, &format!("o-{kind:?}"), &["sale"]))).await;
    for (kind, expected) in KINDS.into_iter().zip(&expected) {
        for filter in [filter(&["SALE"], &[], &[]), filter(&[], &["sale"], &[])] {
            for items in [1, 2, 3, 100] {
                assert_eq!(stored::list(&store, account, kind, &filter, items).await, *expected, "{items}");
            }
        }
        assert_eq!(stored::list(&store, account, kind, &filter(&["unknown"], &[], &[]), 2).await, []);
    }
}

/// As the domain's rule says, for every combination. An unknown name is that of a tag without links.
pub(super) async fn lists_filter_by_any_all_and_none_of_some_tags(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let sets = [&[][..], &["a"], &["b"], &["a", "b"], &["a", "b", "c"], &["c"]];
    let mut links = Vec::new();
    for (number, set) in sets.into_iter().enumerate() {
        let link = tagged(LinkKind::Redirect, &format!("s{number}"), set);
        let [link] = given_links(&store, account, [link]).await;
        links.insert(0, link);
    }
    let choices = [&[][..], &["A"], &["a", "B"], &["a", "A"], &["unknown"], &["c", "unknown"]];
    for any in choices {
        for all in choices {
            for none in choices {
                let filter = filter(any, all, none);
                let expected: Vec<Link> =
                    links.iter().filter(|link| filter.tags.matches(&link.tags)).cloned().collect();
                let found = stored::list(&store, account, LinkKind::Redirect, &filter, 4).await;
                assert_eq!(found, expected, "{filter:?}");
            }
        }
    }
}

pub(super) async fn tags_filter_beside_other_filters(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let external_id = signpost_domain::ExternalId::parse("4711").unwrap();
    let like = tagged(LinkKind::Redirect, "sought", &["t"]);
    let sought = Link { group_id: Some(group), external_id: Some(external_id.clone()), ..like };
    let untagged = Link { group_id: Some(group), ..samples::link(LinkKind::Redirect, "untagged") };
    let elsewhere = Link { is_active: false, ..tagged(LinkKind::Redirect, "other", &["t", "u"]) };
    let [sought, _, _] = given_links(&store, account, [sought, untagged, elsewhere]).await;
    assert_eq!(sought.tags, tags(&["t"]));
    let every = LinkFilter::default();
    let search = SearchText::parse("soug").unwrap();
    let beside = [
        LinkFilter { group: GroupFilter::In(group), ..every.clone() },
        LinkFilter { is_active: Some(true), ..every.clone() },
        LinkFilter { slug: Some(samples::slug("sought")), ..every.clone() },
        LinkFilter { external_id: Some(external_id), ..every.clone() },
        LinkFilter { search: Some(search.clone()), ..every.clone() },
        LinkFilter { site: Some(Site::System), slug: Some(samples::slug("sought")), ..every.clone() },
        LinkFilter { site: Some(Site::System), is_active: Some(true), search: Some(search), ..every },
    ];
    for beside in beside {
        for (tags, is_found) in [
            (filter(&["t"], &[], &[]).tags, true),
            (filter(&["u", "T"], &[], &["u"]).tags, true),
            (filter(&[], &[], &["t"]).tags, false),
            (filter(&["u"], &[], &[]).tags, false),
            (filter(&[], &["t", "u"], &[]).tags, false),
        ] {
            let filter = LinkFilter { tags, ..beside.clone() };
            let found = stored::list(&store, account, LinkKind::Redirect, &filter, 100).await;
            assert_eq!(found.contains(&sought), is_found, "{filter:?}");
            assert!(found.iter().all(|link| filter.tags.matches(&link.tags)), "{filter:?}");
        }
    }
}
