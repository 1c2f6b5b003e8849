//! Pages of links: newest first, each link once, also during concurrent writes and deletions (D11, R35).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use signpost_app::ports::Store;
use signpost_domain::{AccountId, Landing, Link, LinkFilter, LinkId, LinkKind, Page, PagePosition, Redirect};

use super::fixture::Fresh;
use super::given::{self, KINDS};
use super::stored;
use crate::samples;

cases! {
    $ link_pages
    pages_of_every_size_hold_all_links
    an_account_without_links_has_one_empty_page
    links_are_listed_by_id
    a_position_needs_no_link
    a_walk_with_changes_between_its_pages_misses_nothing
    a_walk_among_writers_misses_nothing
}

fn many(links: usize, kind: LinkKind, prefix: &str) -> Vec<Link> {
    (0..links).map(|number| samples::link(kind, &format!("{prefix}-{number}"))).collect()
}

async fn walked(
    store: &Arc<dyn Store>,
    account: AccountId,
    kind: LinkKind,
    items: u64,
) -> (Vec<Link>, usize) {
    let filter = LinkFilter::default();
    given::walk(async |after| {
        let page = stored::page(store, account, kind, &filter, items, after).await;
        let full = usize::try_from(items).unwrap();
        assert!(page.items.len() <= full);
        assert!(page.next.is_none() || page.items.len() == full, "a page before the last is not full");
        page
    })
    .await
}

/// Pages of every size contain all links in the same order, and the last page has no successor. Links of the other kind
/// take no room on a page.
pub(super) async fn pages_of_every_size_hold_all_links(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    given::links(&store, other, &many(20, LinkKind::Redirect, "others-redirect")).await;
    given::links(&store, other, &many(20, LinkKind::Landing, "others-page")).await;
    // Two of every five links are landing pages.
    let mut links: Vec<Link> = (0..375)
        .map(|number| samples::link(KINDS[usize::from(number % 5 > 1)], &format!("link-{number}")))
        .collect();
    given::links(&store, account, &links).await;
    links.reverse();
    for kind in KINDS {
        let links: Vec<Link> = links.iter().filter(|link| link.kind() == kind).cloned().collect();
        assert!(links.len() > 100);
        for items in 1..=100 {
            let (walked, pages) = walked(&store, account, kind, items).await;
            assert_eq!(pages, links.len().div_ceil(usize::try_from(items).unwrap()));
            assert!(walked == links, "pages of {items}");
        }
    }
}

pub(super) async fn an_account_without_links_has_one_empty_page(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for nobody_or_empty in [account, samples::id()] {
        for kind in KINDS {
            assert_eq!(walked(&store, nobody_or_empty, kind, 25).await, (vec![], 1));
        }
    }
    // The same holds for an account with only links of the other kind.
    given::links(&store, account, &many(30, LinkKind::Landing, "page")).await;
    assert_eq!(walked(&store, account, LinkKind::Redirect, 25).await, (vec![], 1));
}

/// The order of insertion and the times of links do not matter.
pub(super) async fn links_are_listed_by_id(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let mut links = Vec::new();
        for number in 0..20 {
            let text = format!("{kind:?}-{number}");
            let (created_at, updated_at) = (samples::at(number * 7 % 20), samples::at(100));
            links.push(match kind {
                LinkKind::Landing => Landing { created_at, updated_at, ..samples::landing(&text) }.into_any(),
                LinkKind::Redirect => {
                    Redirect { created_at, updated_at, ..samples::redirect(&text) }.into_any()
                }
            });
        }
        let shuffled: Vec<Link> = (0..20).map(|number| links[number * 3 % 20].clone()).collect();
        given::links(&store, account, &shuffled).await;
        links.reverse();
        assert_eq!(walked(&store, account, kind, 7).await.0, links);
        // An update keeps the order.
        let group = given::group(&store, account).await.id;
        links[13].move_to_group(Some(group), samples::at(200));
        given::update_link(&store, account, &links[13]).await.unwrap();
        assert_eq!(walked(&store, account, kind, 7).await.0, links);
    }
}

/// A position is a point in the order, not a link. It stays valid when the link before it is deleted, and at
/// any other point.
pub(super) async fn a_position_needs_no_link(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let filter = LinkFilter::default();
    for kind in KINDS {
        let links = many(6, kind, &format!("{kind:?}"));
        given::links(&store, account, &links).await;
        let behind = async |id: [u8; 16]| -> Page<Link> {
            stored::page(&store, account, kind, &filter, 2, Some(PagePosition::behind(id))).await
        };
        let id = |position: usize| links[position].id().to_bytes();
        let before = behind(id(4)).await;
        assert_eq!(before.items, [links[3].clone(), links[2].clone()]);
        assert!(given::delete_link(&store, account, links[4].id()).await);
        assert_eq!(behind(id(4)).await, before);
        let first = behind([0xff; 16]).await;
        assert_eq!(first.items, [links[5].clone(), links[3].clone()]);
        for end in [id(0), [0; 16]] {
            let page = behind(end).await;
            assert_eq!((page.items, page.next), (vec![], None));
        }
        assert_eq!(behind(id(2)).await.next, None, "the page with the last two links has a successor");
        // The position of a link of the other kind is valid too.
        let other = given::link(&store, account, samples::link(given::other(kind), "newest")).await;
        assert_eq!(behind(other.id().to_bytes()).await, first);
        assert!(given::delete_link(&store, account, other.id()).await);
    }
}

/// A walk returns every link that exists throughout it exactly once, with writes between any two pages.
pub(super) async fn a_walk_with_changes_between_its_pages_misses_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let filter = LinkFilter::default();
    for kind in KINDS {
        // Lasting links are mixed with temporary ones, at all positions of a page.
        let (mut lasting, mut passing) = (Vec::new(), Vec::new());
        let links = many(120, kind, &format!("{kind:?}"));
        given::links(&store, account, &links).await;
        for (number, link) in links.into_iter().enumerate() {
            if number % 3 == 0 { lasting.push(link.id()) } else { passing.push(link.id()) }
        }
        let (mut seen, mut after, mut round) = (Vec::new(), None, 0);
        loop {
            let page = stored::page(&store, account, kind, &filter, 7, after).await;
            seen.extend(given::ids(&page.items));
            let Some(next) = page.next else { break };
            after = Some(next);
            // Insert links at the top, and delete links of earlier pages, later pages and the page just read.
            round += 1;
            given::link(&store, account, samples::link(kind, &format!("new-{kind:?}-{round}"))).await;
            let mut doomed = vec![passing.pop(), passing.first().copied(), page.items.last().map(Link::id)];
            doomed.retain(|id| id.is_some_and(|id| !lasting.contains(&id)));
            for id in doomed.into_iter().flatten() {
                given::delete_link(&store, account, id).await;
                passing.retain(|passing| *passing != id);
            }
        }
        assert!(round > 8);
        each_once(&seen, &lasting);
    }
}

/// The same with concurrent writers, over 1,000 lasting links.
pub(super) async fn a_walk_among_writers_misses_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let lasting = many(1_000, LinkKind::Redirect, "lasting");
    for part in lasting.chunks(250) {
        given::links(&store, account, part).await;
    }
    let lasting = given::ids(&lasting);
    let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4 {
        let (store, stop, written) = (store.clone(), Arc::clone(&stop), Arc::clone(&written));
        writers.spawn(async move {
            let mut round = 0;
            while !stop.load(Ordering::SeqCst) {
                // One in four links is a landing page, which is in another list.
                let kind = KINDS[usize::from((writer + round) % 4 != 0)];
                let link = samples::link(kind, &format!("passing-{writer}-{round}"));
                let link = given::link(&store, account, link).await;
                // Every third link stays.
                if round % 3 != 0 {
                    assert!(given::delete_link(&store, account, link.id()).await);
                }
                round += 1;
                written.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    for items in [9, 50, 100] {
        let before = written.load(Ordering::SeqCst);
        while written.load(Ordering::SeqCst) < before + 4 {
            tokio::task::yield_now().await;
        }
        let (links, _) = walked(&store, account, LinkKind::Redirect, items).await;
        let seen = given::ids(&links);
        assert!(seen.is_sorted_by(|newer, older| newer > older));
        each_once(&seen, &lasting);
    }
    stop.store(true, Ordering::SeqCst);
    while let Some(outcome) = writers.join_next().await {
        outcome.unwrap();
    }
}

fn each_once(seen: &[LinkId], lasting: &[LinkId]) {
    let distinct: BTreeSet<LinkId> = seen.iter().copied().collect();
    assert_eq!(distinct.len(), seen.len(), "a link is on two pages");
    assert!(lasting.iter().all(|id| distinct.contains(id)), "a lasting link is missing");
}
