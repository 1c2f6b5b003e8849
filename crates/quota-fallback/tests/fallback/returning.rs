//! The store is asked again when it is back, and learns what it missed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use signpost_app::ports::QuotaStore as _;
use signpost_domain::{AccountId, RequestBudget};
use signpost_port_contracts::samples;
use signpost_quota_fallback::FallbackQuotaStore;
use tokio::time::sleep;

use crate::failing_store::{FailingStore, Mood};

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

async fn admit(quota: &FallbackQuotaStore, account: AccountId, times: u32) {
    for _ in 0..times {
        quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
    }
}

/// A little more than the second between two tries.
const ONE_TRY: Duration = Duration::from_millis(1_001);

#[tokio::test(start_paused = true)]
async fn d19_the_store_is_tried_every_second_and_asked_again_when_it_is_back() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    store.becomes(Mood::Refuses);
    admit(&quota, account, 20).await;
    for tries in 1..=90 {
        sleep(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
        assert_eq!(store.tries.load(Ordering::SeqCst), tries);
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    admit(&quota, account, 1).await;
    assert_eq!(store.admissions.load(Ordering::SeqCst), 6);
    // There is nothing left to try.
    let calls = || (store.tries.load(Ordering::SeqCst), store.merges.load(Ordering::SeqCst));
    let before = calls();
    sleep(Duration::from_mins(10)).await;
    assert_eq!(calls(), before);
}

#[tokio::test(start_paused = true)]
async fn d19_what_nodes_counted_alone_is_merged() {
    let (store, first) = FailingStore::behind_a_fallback();
    let second = store.another_node();
    let (account, now) = (samples::id(), samples::at(0));
    admit(&first, account, 10).await;
    store.becomes(Mood::Refuses);
    admit(&first, account, 30).await;
    admit(&second, account, 25).await;
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (65, 65));
    admit(&second, account, 1).await;
    assert_eq!(store.used(account, now).await, (66, 66));
}

/// It came back empty: what is running is restored, what is over is not needed.
#[tokio::test(start_paused = true)]
async fn d19_a_store_that_lost_its_counts_learns_those_of_the_running_windows_again() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now, before) = (samples::id(), samples::at(0), samples::at(-60_000));
    for _ in 0..7 {
        quota.admit(account, BUDGET, before).await.unwrap();
    }
    admit(&quota, account, 40).await;
    let silent = samples::id();
    admit(&quota, silent, 8).await;
    store.becomes(Mood::Refuses);
    admit(&quota, account, 5).await;
    store.loses_its_counts();
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (45, 52));
    assert_eq!(store.used(account, before).await, (0, 52));
    assert_eq!(store.used(silent, now).await, (8, 8));
}

/// One lost answer is merged too, although the store was never left alone.
#[tokio::test(start_paused = true)]
async fn a_single_failure_is_merged_as_well() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    admit(&quota, account, 3).await;
    store.becomes(Mood::Refuses);
    admit(&quota, account, 1).await;
    store.becomes(Mood::Answers);
    admit(&quota, account, 1).await;
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, samples::at(0)).await, (5, 5));
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
}

/// As a replica is after a failover.
#[tokio::test(start_paused = true)]
async fn a_store_that_can_only_be_read_is_not_back() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    store.becomes(Mood::IsReadOnly);
    admit(&quota, account, 5).await;
    sleep(Duration::from_secs(30)).await;
    admit(&quota, account, 5).await;
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, samples::at(0)).await, (10, 10));
}

/// As the accounts of one node of a cluster are.
#[tokio::test(start_paused = true)]
async fn accounts_that_the_store_refuses_do_not_keep_the_others_from_it() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (refused, other, now) = (samples::id(), samples::id(), samples::at(0));
    store.becomes(Mood::Refuses);
    admit(&quota, refused, 5).await;
    admit(&quota, other, 5).await;
    // More than are merged at once, all of them after the one that is refused.
    let many: Vec<AccountId> = (0..200).map(|_| samples::id()).collect();
    for account in &many {
        admit(&quota, *account, 1).await;
    }
    store.becomes(Mood::RefusesOnly(refused));
    sleep(ONE_TRY).await;
    assert_eq!(store.used(other, now).await, (5, 5));
    for account in many {
        assert_eq!(store.used(account, now).await, (1, 1));
    }
    for _ in 0..10 {
        admit(&quota, refused, 1).await;
        admit(&quota, other, 1).await;
    }
    assert_eq!(store.used(other, now).await, (15, 15));
    assert_eq!(store.used(refused, now).await, (0, 0));
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(refused, now).await, (15, 15));
}

/// Its task must not keep the store, nor try it for ever.
#[tokio::test(start_paused = true)]
async fn a_dropped_fallback_ends_its_tries() {
    let (store, quota) = FailingStore::behind_a_fallback();
    store.becomes(Mood::Refuses);
    admit(&quota, samples::id(), 5).await;
    drop(quota);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.tries.load(Ordering::SeqCst), 0);
    assert_eq!(std::sync::Arc::strong_count(&store), 1);
}

/// ADR 15: what the store took in without saying so in time is merged again and counted once.
#[tokio::test(start_paused = true)]
async fn d19_a_merge_whose_answer_is_late_counts_once() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::Refuses);
    admit(&quota, account, 5).await;
    // Longer than a merge is waited for.
    store.becomes(Mood::IsSlowOnlyWith(account, Duration::from_millis(300)));
    sleep(Duration::from_secs(10)).await;
    assert!(store.merges.load(Ordering::SeqCst) >= 10);
    assert_eq!(store.used(account, now).await, (5, 5));
    // More of the same count.
    store.becomes(Mood::Refuses);
    admit(&quota, account, 2).await;
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (7, 7));
}

/// What nobody lost needs no merge, however many accounts there are.
#[tokio::test(start_paused = true)]
async fn a_single_failure_merges_what_is_missing_and_nothing_else() {
    let (store, quota) = FailingStore::behind_a_fallback();
    for _ in 0..50 {
        admit(&quota, samples::id(), 1).await;
    }
    sleep(ONE_TRY).await;
    assert_eq!(store.merges.load(Ordering::SeqCst), 0);
    store.becomes(Mood::Refuses);
    admit(&quota, samples::id(), 1).await;
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    // Its minute and its day.
    assert_eq!(store.merges.load(Ordering::SeqCst), 2);
}

/// As a failover to a replica that lagged behind, or an evicted key: nothing failed, and the store's counts still have
/// their name.
#[tokio::test(start_paused = true)]
async fn a_count_that_the_store_lost_unnoticed_is_raised_when_it_is_asked_for() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    admit(&quota, account, 40).await;
    sleep(ONE_TRY).await;
    store.loses_its_counts_unnoticed().await;
    admit(&quota, account, 1).await;
    assert_eq!(store.used(account, now).await, (1, 1));
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (40, 40));
}

/// More accounts than are merged at once, in a store that lost all of them.
#[tokio::test(start_paused = true)]
async fn all_accounts_of_a_store_that_lost_its_counts_are_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let accounts: Vec<AccountId> = (0..200).map(|_| samples::id()).collect();
    for account in &accounts {
        admit(&quota, *account, 3).await;
    }
    sleep(ONE_TRY).await;
    store.becomes(Mood::Refuses);
    admit(&quota, samples::id(), 1).await;
    store.loses_its_counts();
    store.becomes(Mood::Answers);
    sleep(ONE_TRY).await;
    for account in accounts {
        assert_eq!(store.used(account, samples::at(0)).await, (3, 3));
    }
}

/// A task that dies must not leave the node alone for ever.
#[tokio::test(start_paused = true)]
async fn d19_the_store_is_asked_again_also_if_a_try_panicked() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::Refuses);
    admit(&quota, account, 5).await;
    store.becomes(Mood::Panics);
    sleep(ONE_TRY).await;
    assert_eq!(store.tries.load(Ordering::SeqCst), 1);
    store.becomes(Mood::Answers);
    admit(&quota, account, 1).await;
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (6, 6));
    assert!(quota.asks_the_store());
}
