//! Packing, digests and sealing.

use std::sync::Arc;

use signpost_app::ports::Upkeep;
use signpost_domain::analytics::Counts;

use super::fixture::Fresh;
use super::given::{self, append, ask, click, everything, instant, links, long_after, question};
use super::model::report;
use crate::pseudorandom::Pseudorandom;
use crate::run::at_once;

pub(super) async fn each_step_of_upkeep_terminates(fresh: Fresh) {
    let (store, owner, link) = (fresh.store().await, given::account(), links(1)[0]);
    append(store.as_ref(), 1, &[click(owner, link, instant(0, 0), 1)], 1).await;
    for _ in 0..2 {
        given::pack_all(store.as_ref()).await;
        given::digest_all(store.as_ref()).await;
        given::seal_all(store.as_ref()).await;
        assert_eq!(store.pack(long_after()).await.unwrap().upkeep, Upkeep::Done);
        assert_eq!(store.digest(long_after()).await.unwrap(), Upkeep::Done);
        assert_eq!(store.seal(long_after()).await.unwrap(), Upkeep::Done);
    }
    // None of these steps is due yet.
    append(store.as_ref(), 2, &[click(owner, link, instant(5, 0), 1)], 1).await;
    assert_eq!(store.pack(instant(5, 59_000)).await.unwrap().upkeep, Upkeep::Done);
    given::pack_all(store.as_ref()).await;
    assert_eq!(store.digest(instant(5, 86_399_999)).await.unwrap(), Upkeep::Done);
    assert_eq!(store.seal(instant(7, 86_399_999)).await.unwrap(), Upkeep::Done);
}

pub(super) async fn d51_concurrent_packers_count_each_click_once(fresh: Fresh) {
    let store = fresh.store().await;
    let mut random = Pseudorandom::new(7);
    let owners = [(given::account(), links(5)), (given::account(), links(5))];
    let clicks = given::random_clicks(&mut random, 4_000, &owners, 3);
    for (source, some) in (1..).zip(clicks.chunks(1_000)) {
        append(store.as_ref(), source, some, 3).await;
        let shared = Arc::clone(&store);
        at_once(4, |_| {
            let store = Arc::clone(&shared);
            async move { while store.pack(long_after()).await.unwrap().upkeep == Upkeep::More {} }
        })
        .await;
    }
    for (account, _) in owners {
        let question = question(everything(account));
        assert_eq!(ask(store.as_ref(), &question).await, report(&clicks, &question));
    }
}

/// Only visitors of late clicks may be counted twice: sealing drops the visitors of a day.
pub(super) async fn late_clicks_count_after_digests_and_sealing(fresh: Fresh) {
    let store = fresh.store().await;
    let mut random = Pseudorandom::new(8);
    let owners = [(given::account(), links(5))];
    let account = owners[0].0;
    let clicks = given::random_clicks(&mut random, 3_000, &owners, 2);
    let (early, late) = clicks.split_at(2_000);
    append(store.as_ref(), 1, early, 100).await;
    given::pack_all(store.as_ref()).await;
    given::digest_all(store.as_ref()).await;
    let (some, rest) = late.split_at(500);
    append(store.as_ref(), 2, some, 100).await;
    let asked = question(everything(account));
    for _ in 0..2 {
        let known = report(&clicks[..2_500], &asked);
        assert_eq!(ask(store.as_ref(), &asked).await, known);
        given::pack_all(store.as_ref()).await;
        assert_eq!(ask(store.as_ref(), &asked).await, known);
        given::digest_all(store.as_ref()).await;
    }
    given::seal_all(store.as_ref()).await;
    append(store.as_ref(), 3, rest, 100).await;
    let expected = report(&clicks, &asked).totals;
    for _ in 0..3 {
        let totals = ask(store.as_ref(), &asked).await.totals;
        assert!(totals.visitors >= expected.visitors);
        assert_eq!(Counts { visitors: expected.visitors, ..totals }, expected);
        given::pack_all(store.as_ref()).await;
        given::digest_all(store.as_ref()).await;
        given::seal_all(store.as_ref()).await;
    }
}
