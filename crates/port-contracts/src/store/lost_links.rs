//! Links that lose their address with their domain (D22, D41, D43).

use signpost_app::ports::LinksOf;
use signpost_domain::{AccountId, Link, LinkFilter, LinkKind, Placement, Site, Timestamp};

use super::domain_steps;
use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, KINDS, PLENTY, unit};
use super::stored;
use crate::samples;

cases! {
    $ lost_links
    a_lost_link_loses_only_its_address
    only_the_selected_links_are_lost
    links_are_lost_in_bounded_steps
    a_thousand_links_are_lost_at_once
    a_lost_address_is_free_at_once
    an_uncommitted_loss_is_rolled_back
}

const HOST: &str = "a.example.net";

/// The link without its address, updated at `now` unless it was updated later.
fn lost(link: &Link, now: Timestamp) -> Link {
    let placement = Placement::Lost { slug: link.placement.slug().cloned() };
    let mut lost = Link { placement, ..link.clone() };
    lost.mark_changed(now);
    lost
}

/// The number of the account's links on the hostname.
async fn on_host(store: &StoreUnderTest, account: AccountId, host: &str) -> usize {
    let site = Some(Site::Custom(samples::hostname(host)));
    let filter = LinkFilter { site, ..LinkFilter::default() };
    let mut count = 0;
    for kind in KINDS {
        count += stored::list(store, account, kind, &filter, 100).await.len();
    }
    count
}

/// The slug, if any, and all other fields stay; `updated_at` never goes back (D33).
pub(super) async fn a_lost_link_loses_only_its_address(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let domain = domain_steps::domain(&store, account, HOST, domain_steps::ACTIVE).await;
    let now = samples::at(5);
    let mut links = Vec::new();
    for (slug, updated_at, kind) in [
        (Some("a"), 4, LinkKind::Landing),
        (Some("b"), 5, LinkKind::Landing),
        (Some("c"), 6, LinkKind::Landing),
        (Some("A"), 4, LinkKind::Redirect),
        (Some("C"), 6, LinkKind::Redirect),
        (None, 0, LinkKind::Redirect),
    ] {
        let mut link = samples::link_at(kind, samples::on_custom(HOST, slug));
        link.move_to_group(Some(group), samples::at(updated_at));
        links.push(given::link(&store, account, link).await);
    }
    let page = links[0].clone().into_landing().expect("the first is a page");
    given::write_page(&store, account, page.id, &samples::page_content()).await;
    let before = stored::group_counts(&store, account, group).await;
    assert_eq!(domain_steps::lose(&store, LinksOf::Account(account), HOST, 100, now).await, 6);
    for link in &links {
        let after = stored::link(&store, account, link.id()).await;
        assert_eq!(after, Some(lost(link, now)));
        assert_eq!(stored::published(&store, &link.placement).await, None);
    }
    assert_eq!(stored::group_counts(&store, account, group).await, before);
    stored::counters_are_right(&store, account).await;
    let content = stored::page_content(&store, account, page.id).await;
    assert_eq!(content, Some(samples::page_content()));
    assert_eq!(stored::custom_domains(&store, account).await, [domain]);
    // A lost link is not lost again, and returns when it gets an address.
    assert_eq!(domain_steps::lose(&store, LinksOf::Account(account), HOST, 100, samples::at(9)).await, 0);
    for link in &links {
        given::update_link(&store, account, link).await.unwrap();
        let published = stored::published(&store, &link.placement).await;
        let expected = if link.id() == page.id.into() {
            stored::publication_of_page(account, link, &samples::page_content())
        } else {
            stored::publication_of(account, link)
        };
        assert_eq!(published, Some(expected));
    }
}

/// Only links on that hostname, either of one account or of all other accounts.
pub(super) async fn only_the_selected_links_are_lost(fresh: Fresh) {
    let (store, [one, other, third]) = fresh.store_with_accounts().await;
    let mut links = Vec::new();
    for (account, slug) in [(one, "one"), (other, "other"), (third, "third")] {
        for placement in [
            samples::on_custom(HOST, Some(slug)),
            samples::on_custom("b.a.example.net", Some(slug)),
            samples::on_custom("a.example.ne", Some(slug)),
            samples::on_system(slug),
            samples::lost(Some(slug)),
        ] {
            let link = samples::link_at(KINDS[links.len() % 2], placement);
            links.push((account, given::link(&store, account, link).await));
        }
    }
    let now = samples::at(7);
    let (root, foreign) = (samples::redirect_at(samples::on_custom(HOST, None)), samples::id());
    links.push((one, given::link(&store, one, root).await.into_any()));
    assert_eq!(domain_steps::lose(&store, LinksOf::Account(foreign), HOST, 100, now).await, 0);
    let steps = [
        (LinksOf::Account(one), vec![one]),
        (LinksOf::AllBut(other), vec![one, third]),
        (LinksOf::AllBut(foreign), vec![one, other, third]),
    ];
    let mut expected_lost = [2, 1, 1].into_iter();
    for (whose, gone) in steps {
        let lost_now = domain_steps::lose(&store, whose, HOST, 100, now).await;
        assert_eq!(Some(lost_now), expected_lost.next());
        for (account, link) in &links {
            let is_on_host = matches!(
                &link.placement,
                Placement::Custom { hostname, slug: _ } if hostname.as_str() == HOST
            );
            let expected = if is_on_host && gone.contains(account) { lost(link, now) } else { link.clone() };
            assert_eq!(stored::link(&store, *account, link.id()).await, Some(expected), "{whose:?}");
        }
    }
}

/// Each call takes at most the requested number, and fewer only if none is left.
pub(super) async fn links_are_lost_in_bounded_steps(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    for (number, owner) in (0..12).zip([account, other].into_iter().cycle()) {
        let placement = samples::on_custom(HOST, Some(&format!("link-{number}")));
        given::link(&store, owner, samples::link_at(KINDS[number / 2 % 2], placement)).await;
    }
    let lose = async |whose| domain_steps::lose(&store, whose, HOST, 4, samples::at(1)).await;
    for (whose, expected, left) in [
        (LinksOf::Account(account), 4, [2, 6]),
        (LinksOf::Account(account), 2, [0, 6]),
        (LinksOf::Account(account), 0, [0, 6]),
        (LinksOf::AllBut(account), 4, [0, 2]),
        (LinksOf::AllBut(other), 0, [0, 2]),
        (LinksOf::AllBut(account), 2, [0, 0]),
        (LinksOf::AllBut(account), 0, [0, 0]),
    ] {
        assert_eq!(lose(whose).await, expected, "{whose:?}");
        let on_host = [on_host(&store, account, HOST).await, on_host(&store, other, HOST).await];
        assert_eq!(on_host, left);
    }
    // One call may take links of several accounts, and the last call may take exactly the rest.
    for (owner, slug) in [(account, "one"), (other, "other")] {
        for kind in KINDS {
            let placement = samples::on_custom(HOST, Some(&format!("{slug}-{kind:?}")));
            given::link(&store, owner, samples::link_at(kind, placement)).await;
        }
    }
    let all = LinksOf::AllBut(samples::id());
    assert_eq!((lose(all).await, lose(all).await), (4, 0));
    for owner in [account, other] {
        stored::counters_are_right(&store, owner).await;
    }
}

/// As many links as a use case takes in one step.
pub(super) async fn a_thousand_links_are_lost_at_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links: Vec<Link> = (0..1_500)
        .map(|number| {
            let placement = samples::on_custom(HOST, Some(&format!("link-{number}")));
            samples::link_at(KINDS[number % 2], placement)
        })
        .collect();
    given::links(&store, account, &links).await;
    let lose =
        async || domain_steps::lose(&store, LinksOf::Account(account), HOST, 1_000, samples::at(1)).await;
    assert_eq!((lose().await, lose().await, lose().await), (1_000, 500, 0));
    assert_eq!(on_host(&store, account, HOST).await, 0);
    assert_eq!(stored::links_count(&store, account).await, 1_500);
}

/// Also for another account, within the same unit of work.
pub(super) async fn a_lost_address_is_free_at_once(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let hostname = samples::hostname(HOST);
    for slug in [Some("taken"), None] {
        let placement = samples::on_custom(HOST, slug);
        let old = given::link(&store, account, samples::link_at(KINDS[0], placement.clone())).await;
        let new = samples::link_at(KINDS[1], placement.clone());
        let outcome = unit!(&store, async |work| {
            let whose = LinksOf::AllBut(other);
            assert_eq!(work.lose_some_links(whose, &hostname, 100, samples::at(1)).await?, 1);
            assert_eq!(work.lock_link(account, old.id()).await?, Some(lost(&old, samples::at(1))));
            given::insert(work, other, &new, PLENTY).await
        });
        outcome.await.unwrap();
        assert_eq!(stored::link(&store, account, old.id()).await, Some(lost(&old, samples::at(1))));
        assert_eq!(stored::link(&store, other, new.id()).await, Some(new));
    }
}

pub(super) async fn an_uncommitted_loss_is_rolled_back(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let placements = [samples::on_custom(HOST, Some("a")), samples::on_custom(HOST, None)];
    domain_steps::serve(&store, account, &placements).await;
    let links = placements.map(|placement| samples::link_at(KINDS[0], placement));
    given::links(&store, account, &links).await;
    let mut work = store.begin().await.unwrap();
    let (whose, hostname) = (LinksOf::Account(account), samples::hostname(HOST));
    assert_eq!(work.lose_some_links(whose, &hostname, 100, samples::at(1)).await.unwrap(), 2);
    for link in &links {
        let published = stored::published(&store, &link.placement).await;
        assert_eq!(published, Some(stored::publication_of(account, link)), "nobody else sees it yet");
    }
    drop(work);
    assert_eq!(stored::links(&store, account).await, links);
}
