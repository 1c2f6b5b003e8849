//! Pages of links: newest first, each link once, also while others write and delete (D11, R35).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use signpost_app::ports::Store;
use signpost_domain::{AccountId, LinkFilter, PagePosition, Redirect, RedirectId};

use super::fixture::Fresh;
use super::given;
use crate::samples;

fn many(links: usize, prefix: &str) -> Vec<Redirect> {
    (0..links).map(|number| samples::redirect(&format!("{prefix}-{number}"))).collect()
}

async fn walked(store: &Arc<dyn Store>, account: AccountId, items: u64) -> (Vec<Redirect>, usize) {
    let filter = LinkFilter::default();
    given::walk(async |after| {
        let page = store.redirects(account, &filter, given::limit(items), after).await.unwrap();
        let full = usize::try_from(items).unwrap();
        assert!(page.items.len() <= full);
        assert!(page.next.is_none() || page.items.len() == full, "only the last page is not full");
        page
    })
    .await
}

/// Pages of every size hold all links in the same order, and the last one says that it is.
pub(super) async fn pages_of_every_size_hold_all_links(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    given::redirects(&store, other, &many(20, "other")).await;
    let mut links = many(250, "link");
    given::redirects(&store, account, &links).await;
    links.reverse();
    for items in 1..=100 {
        let (walked, pages) = walked(&store, account, items).await;
        assert_eq!(pages, 250_usize.div_ceil(usize::try_from(items).unwrap()));
        assert!(walked == links, "pages of {items}");
    }
}

pub(super) async fn an_account_without_links_has_one_empty_page(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    for nobody_or_empty in [account, samples::id()] {
        assert_eq!(walked(&store, nobody_or_empty, 25).await, (vec![], 1));
    }
}

/// The order is that of the ids, whatever the order of insertion or of times.
pub(super) async fn links_are_listed_by_id(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let mut links = many(20, "link");
    for (number, link) in links.iter_mut().enumerate() {
        link.created_at = samples::at(i64::try_from(number * 7 % 20).unwrap());
        link.updated_at = samples::at(100);
    }
    let shuffled: Vec<Redirect> = (0..20).map(|number| links[number * 3 % 20].clone()).collect();
    given::redirects(&store, account, &shuffled).await;
    links.reverse();
    assert_eq!(walked(&store, account, 7).await.0, links);
    // An update moves nothing.
    links[13].name = samples::name("Renamed");
    links[13].updated_at = samples::at(200);
    given::update_redirect(&store, account, &links[13]).await.unwrap();
    assert_eq!(walked(&store, account, 7).await.0, links);
}

/// A position is a place in the order, not a link: it holds when the link before it is gone, and anywhere
/// else.
pub(super) async fn a_position_needs_no_link(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let links = many(6, "link");
    given::redirects(&store, account, &links).await;
    let filter = LinkFilter::default();
    let behind = async |id: [u8; 16]| {
        let after = Some(PagePosition::behind(id));
        store.redirects(account, &filter, given::limit(2), after).await.unwrap()
    };
    let position = links[4].id.to_bytes();
    let before = behind(position).await;
    assert_eq!(before.items, [links[3].clone(), links[2].clone()]);
    assert!(given::delete_redirect(&store, account, &links[4]).await);
    assert_eq!(behind(position).await, before);
    let first = behind([0xff; 16]).await;
    assert_eq!(first.items, [links[5].clone(), links[3].clone()]);
    for end in [links[0].id.to_bytes(), [0; 16]] {
        let page = behind(end).await;
        assert_eq!((page.items, page.next), (vec![], None));
    }
    assert_eq!(behind(links[2].id.to_bytes()).await.next, None, "two are left, and nothing behind them");
}

/// Every link that exists throughout a walk is on it exactly once, with writes between any two pages.
pub(super) async fn a_walk_with_changes_between_its_pages_misses_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    // Lasting links stand between passing ones, in all places of a page.
    let (mut lasting, mut passing) = (Vec::new(), Vec::new());
    for (number, link) in many(120, "link").into_iter().enumerate() {
        given::redirect(&store, account, link.clone()).await;
        if number % 3 == 0 { lasting.push(link) } else { passing.push(link) }
    }
    let filter = LinkFilter::default();
    let (mut seen, mut after, mut round) = (Vec::new(), None, 0);
    loop {
        let page = store.redirects(account, &filter, given::limit(7), after).await.unwrap();
        seen.extend(page.items.iter().map(|link| link.id));
        let Some(next) = page.next else { break };
        after = Some(next);
        // New ones at the top, and some gone: of those behind, of those to come, of the page just read.
        round += 1;
        given::redirect(&store, account, samples::redirect(&format!("new-{round}"))).await;
        for link in [passing.pop(), passing.first().cloned()].into_iter().flatten() {
            given::delete_redirect(&store, account, &link).await;
            passing.retain(|other| other.id != link.id);
        }
        if let Some(last) = page.items.last().filter(|last| !lasting.contains(last)) {
            given::delete_redirect(&store, account, last).await;
            passing.retain(|link| link.id != last.id);
        }
    }
    assert!(round > 8);
    each_once(&seen, lasting.iter().map(|link| link.id));
}

/// The same with writers that do not wait for the reader, over 1,000 lasting links.
pub(super) async fn a_walk_among_writers_misses_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let lasting = many(1_000, "lasting");
    for part in lasting.chunks(250) {
        given::redirects(&store, account, part).await;
    }
    let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4 {
        let (store, stop, written) = (store.clone(), Arc::clone(&stop), Arc::clone(&written));
        writers.spawn(async move {
            let mut round = 0;
            while !stop.load(Ordering::SeqCst) {
                let link = samples::redirect(&format!("passing-{writer}-{round}"));
                given::redirect(&store, account, link.clone()).await;
                // Every third stays.
                if round % 3 != 0 {
                    assert!(given::delete_redirect(&store, account, &link).await);
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
        let (links, _) = walked(&store, account, items).await;
        let seen: Vec<RedirectId> = links.iter().map(|link| link.id).collect();
        assert!(seen.is_sorted_by(|newer, older| newer > older));
        each_once(&seen, lasting.iter().map(|link| link.id));
    }
    stop.store(true, Ordering::SeqCst);
    while let Some(outcome) = writers.join_next().await {
        outcome.unwrap();
    }
}

fn each_once(seen: &[RedirectId], lasting: impl Iterator<Item = RedirectId>) {
    let distinct: BTreeSet<RedirectId> = seen.iter().copied().collect();
    assert_eq!(distinct.len(), seen.len(), "no link is on two pages");
    assert!(lasting.into_iter().all(|id| distinct.contains(&id)), "no lasting link is missing");
}
