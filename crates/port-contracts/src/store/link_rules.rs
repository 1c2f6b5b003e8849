//! Lists of the links with rules (D126).

use signpost_domain::{
    ExternalId, GroupFilter, Link, LinkFilter, LinkKind, LinkState, PageLimit, Redirect, Rules, SearchText,
    Site, StateFilter, TagFilter, TargetHost,
};

use super::fixture::Fresh;
use super::given::{self, unit};
use super::stored;
use super::tags::{given_links, name, tags};
use crate::samples;

cases! {
    $ link_rules
    d126_a_list_has_the_links_with_rules_page_by_page
    d126_a_link_is_listed_by_its_latest_rules
    d126_rules_filter_beside_other_filters
}

fn with_rules(has_rules: bool) -> LinkFilter {
    LinkFilter { has_rules: Some(has_rules), ..LinkFilter::default() }
}

fn ruled(slug: &str) -> Redirect {
    let rules = samples::rules(r#"[{"conditions": [], "target_url": "https://example.net/ruled"}]"#);
    samples::redirect(slug).with(|content| content.rules = rules)
}

/// Newest first, and without those of other accounts. Landing pages have no rules.
pub(super) async fn d126_a_list_has_the_links_with_rules_page_by_page(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let (mut ruled_links, mut plain_links) = (Vec::new(), Vec::new());
    for number in 0..18 {
        let slug = format!("s{number}");
        if number % 3 == 0 {
            ruled_links.insert(0, given::link(&store, account, ruled(&slug)).await.into_any());
        } else {
            plain_links.insert(0, given::link(&store, account, samples::redirect(&slug)).await.into_any());
        }
    }
    let page = given::link(&store, account, samples::landing("page")).await.into_any();
    given::link(&store, other, ruled("theirs")).await;
    for items in [1, 2, 6, 100] {
        for (has_rules, expected) in [(true, &ruled_links), (false, &plain_links)] {
            let found =
                stored::list(&store, account, LinkKind::Redirect, &with_rules(has_rules), items).await;
            assert_eq!(&found, expected, "{has_rules}, {items}");
        }
    }
    for (has_rules, expected) in [(true, vec![]), (false, vec![page])] {
        let found = stored::list(&store, account, LinkKind::Landing, &with_rules(has_rules), 2).await;
        assert_eq!(found, expected, "{has_rules}");
    }
    let limit = PageLimit::OF_UNIT_OF_WORK;
    let all = store.links(account, LinkKind::Redirect, &with_rules(true), limit, None).await.unwrap();
    assert_eq!(all.items, ruled_links);
}

pub(super) async fn d126_a_link_is_listed_by_its_latest_rules(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut link: Link = given::link(&store, account, samples::redirect("a")).await.into_any();
    let rules = ruled("b").content.rules;
    for rules in [rules, Rules::default()] {
        let has_rules = !rules.is_empty();
        let redirect = link.clone().into_redirect().unwrap();
        let after: Link = redirect.with(|content| content.rules = rules).into_any();
        let updated = unit!(&store, async |work| {
            let before = work.lock_link(account, link.id()).await?.unwrap();
            Ok(work.update_link(account, &before, &after).await?)
        });
        assert_eq!(updated.await, Ok(()));
        for asked in [true, false] {
            let found = stored::list(&store, account, LinkKind::Redirect, &with_rules(asked), 9).await;
            assert_eq!(found == std::slice::from_ref(&after), asked == has_rules, "{found:?}");
        }
        link = after;
    }
}

/// Beside any other filter, with and without an index of its own.
pub(super) async fn d126_rules_filter_beside_other_filters(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let external_id = ExternalId::parse("order-1").unwrap();
    let with_tag = |redirect: Redirect| Redirect { tags: tags(&["T"]), ..redirect };
    let sought = Redirect {
        group_id: Some(group),
        external_id: Some(external_id.clone()),
        ..with_tag(ruled("sought"))
    };
    let plain = Redirect { group_id: Some(group), ..with_tag(samples::redirect("sought-too")) };
    let elsewhere = Redirect { is_active: false, ..ruled("elsewhere") };
    let [sought, plain, elsewhere] =
        given_links(&store, account, [sought, plain, elsewhere].map(Redirect::into_any)).await;
    let every = LinkFilter::default();
    let (slug, site) = (Some(samples::slug("sought")), Some(Site::System));
    let search = |text: &str| Some(SearchText::parse(text).unwrap());
    let tag = TagFilter { any: vec![name("T")], ..TagFilter::default() };
    let target_host = TargetHost::parse("example.com").ok();
    let state = |state: LinkState| Some(StateFilter { states: state.into(), at: samples::at(0) });
    for other in [
        every.clone(),
        LinkFilter { group: GroupFilter::In(group), ..every.clone() },
        LinkFilter { is_active: Some(true), ..every.clone() },
        LinkFilter { has_password: Some(false), ..every.clone() },
        LinkFilter { state: state(LinkState::Active), ..every.clone() },
        LinkFilter { site: site.clone(), ..every.clone() },
        LinkFilter { slug: slug.clone(), ..every.clone() },
        LinkFilter { site: site.clone(), slug, ..every.clone() },
        LinkFilter { external_id: Some(external_id), ..every.clone() },
        LinkFilter { tags: tag.clone(), ..every.clone() },
        LinkFilter { target_host, ..every.clone() },
        LinkFilter { search: search("sought"), ..every.clone() },
        LinkFilter { search: search("so"), site: site.clone(), ..every.clone() },
        LinkFilter { tags: tag, site, is_active: Some(true), search: search("ough"), ..every.clone() },
    ] {
        for has_rules in [true, false] {
            let filter = LinkFilter { has_rules: Some(has_rules), ..other.clone() };
            let found = stored::list(&store, account, LinkKind::Redirect, &filter, 100).await;
            assert_eq!(found.contains(&sought), has_rules, "{filter:?}");
            assert_eq!(found.contains(&plain), !has_rules && filter.matches(&plain), "{filter:?}");
            assert!(found.iter().all(|link| filter.matches(link)), "{filter:?}");
        }
    }
    for other in [
        LinkFilter { is_active: Some(false), ..every.clone() },
        LinkFilter { state: state(LinkState::Inactive), ..every.clone() },
        LinkFilter { group: GroupFilter::Ungrouped, ..every.clone() },
    ] {
        let filter = LinkFilter { has_rules: Some(true), ..other };
        let found = stored::list(&store, account, LinkKind::Redirect, &filter, 100).await;
        assert_eq!(found, std::slice::from_ref(&elsewhere), "{filter:?}");
    }
    for other in [
        LinkFilter { has_password: Some(true), ..every.clone() },
        LinkFilter { state: state(LinkState::Lost), ..every.clone() },
        LinkFilter { state: state(LinkState::Expired), ..every },
    ] {
        let filter = LinkFilter { has_rules: Some(true), ..other };
        let found = stored::list(&store, account, LinkKind::Redirect, &filter, 100).await;
        assert_eq!(found, [], "{filter:?}");
    }
}
