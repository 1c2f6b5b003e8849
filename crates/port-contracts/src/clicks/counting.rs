//! Reports are exact before, during and after upkeep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signpost_app::ports::StoreError;
use signpost_domain::{AccountId, LinkId};

use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, Click, append, ask, everything, long_after, question};
use super::model::{random_question, random_selection, report};
use crate::pseudorandom::Pseudorandom;

const DAYS: u64 = 5;

struct Given {
    store: StoreUnderTest,
    random: Pseudorandom,
    owners: Vec<(AccountId, Vec<LinkId>)>,
    clicks: Vec<Click>,
}

async fn given(fresh: &Fresh, seed: u64, number: usize) -> Given {
    let mut random = Pseudorandom::new(seed);
    let owners = vec![(given::account(), given::links(12)), (given::account(), given::links(4))];
    let clicks = given::random_clicks(&mut random, number, &owners, DAYS);
    Given { store: fresh.store().await, random, owners, clicks }
}

impl Given {
    async fn check(&mut self, questions: u64, appended: usize) {
        let clicks = &self.clicks[..appended];
        for _ in 0..questions {
            let (account, links) = self.random.pick(&self.owners).unwrap().clone();
            let selection = random_selection(&mut self.random, account, &links, DAYS);
            let question = random_question(&mut self.random, selection);
            assert_eq!(ask(self.store.as_ref(), &question).await, report(clicks, &question), "{question:?}");
        }
    }
}

pub(super) async fn d47_answers_equal_a_brute_force_count(fresh: Fresh) {
    let mut given = given(&fresh, 1, 3_000).await;
    let (one, rest) = given.clicks.split_at(1_000);
    append(given.store.as_ref(), 1, one, 70).await;
    let appended = one.len();
    append(given.store.as_ref(), 2, rest, 500).await;
    let all = appended + rest.len();
    given.check(40, all).await;
    given::pack_all(given.store.as_ref()).await;
    given.check(40, all).await;
}

pub(super) async fn d51_upkeep_in_any_order_changes_no_answer(fresh: Fresh) {
    let mut given = given(&fresh, 2, 6_000).await;
    let mut appended = 0;
    for source in 1..=12 {
        let some = &given.clicks[appended..appended + 500];
        append(given.store.as_ref(), source, some, 90).await;
        appended += 500;
        // Sealing comes last: visitors of clicks that arrive after it may be counted twice.
        match given.random.below(3) {
            0 => drop(given::pack_all(given.store.as_ref()).await),
            1 => given::digest_all(given.store.as_ref()).await,
            _ => {
                given.store.pack(long_after()).await.unwrap();
                given.store.digest(long_after()).await.unwrap();
            }
        }
        given.check(12, appended).await;
    }
    given::pack_all(given.store.as_ref()).await;
    given::digest_all(given.store.as_ref()).await;
    given.check(40, appended).await;
    given::seal_all(given.store.as_ref()).await;
    given.check(40, appended).await;
    given::digest_all(given.store.as_ref()).await;
    given.store = given.store.reopened().await;
    given.check(40, appended).await;
}

pub(super) async fn d51_concurrent_upkeep_changes_no_answer(fresh: Fresh) {
    let mut given = given(&fresh, 3, 4_000).await;
    append(given.store.as_ref(), 1, &given.clicks, 40).await;
    let (ended, store) = (Arc::new(AtomicBool::new(false)), Arc::clone(&given.store));
    let stop = Arc::clone(&ended);
    let upkeep = tokio::spawn(async move {
        while !stop.load(Ordering::SeqCst) {
            store.pack(long_after()).await.unwrap();
            store.digest(long_after()).await.unwrap();
            store.seal(long_after()).await.unwrap();
        }
    });
    let appended = given.clicks.len();
    given.check(80, appended).await;
    ended.store(true, Ordering::SeqCst);
    upkeep.await.unwrap();
    given.check(20, appended).await;
}

pub(super) async fn accounts_count_only_their_own_clicks(fresh: Fresh) {
    let given = given(&fresh, 4, 1_000).await;
    append(given.store.as_ref(), 1, &given.clicks, 100).await;
    let stranger = given::account();
    for packed in [false, true] {
        if packed {
            given::pack_all(given.store.as_ref()).await;
            given::digest_all(given.store.as_ref()).await;
        }
        let of_stranger = ask(given.store.as_ref(), &question(everything(stranger))).await;
        assert_eq!(of_stranger, report(&[], &question(everything(stranger))));
        for (account, _) in &given.owners {
            let question = question(everything(*account));
            assert_eq!(ask(given.store.as_ref(), &question).await, report(&given.clicks, &question));
        }
    }
}

pub(super) async fn a_query_after_its_deadline_is_refused(fresh: Fresh) {
    let given = given(&fresh, 5, 500).await;
    append(given.store.as_ref(), 1, &given.clicks, 100).await;
    let past = Instant::now().checked_sub(Duration::from_millis(1)).unwrap();
    let (account, _) = given.owners[0];
    let answer = given.store.answer(&question(everything(account)), past).await;
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    let clicks = given.store.clicks(&everything(account), None, 10, past).await;
    assert!(matches!(clicks, Err(StoreError::Unavailable(_))), "{clicks:?}");
    // The refused query leaves nothing behind.
    ask(given.store.as_ref(), &question(everything(account))).await;
}
