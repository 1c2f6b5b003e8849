//! The store is asked again when it is back, and gets the missing counts.

use std::sync::atomic::Ordering;
use std::time::Duration;

use signpost_app::ports::QuotaStore as _;
use signpost_domain::{AccountId, RequestBudget};
use signpost_port_contracts::samples;
use signpost_quota_fallback::FallbackQuotaStore;
use tokio::time::sleep;

use crate::failing_store::{Behavior, FailingStore};

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

async fn admit(quota: &FallbackQuotaStore, account: AccountId, times: u32) {
    for _ in 0..times {
        quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
    }
}

/// A little more than the second between two attempts.
const ONE_TRY: Duration = Duration::from_millis(1_001);

#[tokio::test(start_paused = true)]
async fn d19_store_is_tried_every_second_and_asked_again_when_it_is_back() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    store.set_behavior(Behavior::Refuses);
    admit(&quota, account, 20).await;
    for tries in 1..=90 {
        sleep(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
        assert_eq!(store.tries.load(Ordering::SeqCst), tries);
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    admit(&quota, account, 1).await;
    assert_eq!(store.admissions.load(Ordering::SeqCst), 6);
    // No attempts are left to make.
    let calls = || (store.tries.load(Ordering::SeqCst), store.merges.load(Ordering::SeqCst));
    let before = calls();
    sleep(Duration::from_mins(10)).await;
    assert_eq!(calls(), before);
}

#[tokio::test(start_paused = true)]
async fn d19_counts_of_nodes_alone_are_merged() {
    let (store, first) = FailingStore::behind_a_fallback();
    let second = store.another_node();
    let (account, now) = (samples::id(), samples::at(0));
    admit(&first, account, 10).await;
    store.set_behavior(Behavior::Refuses);
    admit(&first, account, 30).await;
    admit(&second, account, 25).await;
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (65, 65));
    admit(&second, account, 1).await;
    assert_eq!(store.used(account, now).await, (66, 66));
}

/// It came back empty: running windows are restored, and past ones are not needed.
#[tokio::test(start_paused = true)]
async fn d19_running_windows_are_restored_in_a_store_that_lost_its_counts() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now, before) = (samples::id(), samples::at(0), samples::at(-60_000));
    for _ in 0..7 {
        quota.admit(account, BUDGET, before).await.unwrap();
    }
    admit(&quota, account, 40).await;
    let silent = samples::id();
    admit(&quota, silent, 8).await;
    store.set_behavior(Behavior::Refuses);
    admit(&quota, account, 5).await;
    store.loses_its_counts();
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (45, 52));
    assert_eq!(store.used(account, before).await, (0, 52));
    assert_eq!(store.used(silent, now).await, (8, 8));
}

/// One lost answer is merged too, although the store was always asked.
#[tokio::test(start_paused = true)]
async fn request_of_a_single_failure_is_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    admit(&quota, account, 3).await;
    store.set_behavior(Behavior::Refuses);
    admit(&quota, account, 1).await;
    store.set_behavior(Behavior::Answers);
    admit(&quota, account, 1).await;
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, samples::at(0)).await, (5, 5));
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
}

/// Like a replica after a failover.
#[tokio::test(start_paused = true)]
async fn read_only_store_is_not_back() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    store.set_behavior(Behavior::IsReadOnly);
    admit(&quota, account, 5).await;
    sleep(Duration::from_secs(30)).await;
    admit(&quota, account, 5).await;
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, samples::at(0)).await, (10, 10));
}

/// Like the accounts of one node of a cluster.
#[tokio::test(start_paused = true)]
async fn accounts_that_the_store_refuses_do_not_block_the_others() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (refused, other, now) = (samples::id(), samples::id(), samples::at(0));
    store.set_behavior(Behavior::Refuses);
    admit(&quota, refused, 5).await;
    admit(&quota, other, 5).await;
    // More than are merged at once, all of them after the refused one.
    let many: Vec<AccountId> = (0..200).map(|_| samples::id()).collect();
    for account in &many {
        admit(&quota, *account, 1).await;
    }
    store.set_behavior(Behavior::RefusesOnly(refused));
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
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(refused, now).await, (15, 15));
}

/// Its task must neither keep the store alive nor try it forever.
#[tokio::test(start_paused = true)]
async fn dropped_fallback_ends_its_attempts() {
    let (store, quota) = FailingStore::behind_a_fallback();
    store.set_behavior(Behavior::Refuses);
    admit(&quota, samples::id(), 5).await;
    drop(quota);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.tries.load(Ordering::SeqCst), 0);
    assert_eq!(std::sync::Arc::strong_count(&store), 1);
}

/// ADR 15: a merge that took effect without a timely answer is repeated and counted once.
#[tokio::test(start_paused = true)]
async fn d19_merge_is_counted_once_when_its_answer_is_late() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::Refuses);
    admit(&quota, account, 5).await;
    // Longer than the time limit of a merge.
    store.set_behavior(Behavior::IsSlowOnlyWith(account, Duration::from_millis(300)));
    sleep(Duration::from_secs(10)).await;
    assert!(store.merges.load(Ordering::SeqCst) >= 10);
    assert_eq!(store.used(account, now).await, (5, 5));
    // More requests in the same count.
    store.set_behavior(Behavior::Refuses);
    admit(&quota, account, 2).await;
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (7, 7));
}

/// Complete counts need no merge, however many accounts there are.
#[tokio::test(start_paused = true)]
async fn single_failure_merges_only_the_missing_counts() {
    let (store, quota) = FailingStore::behind_a_fallback();
    for _ in 0..50 {
        admit(&quota, samples::id(), 1).await;
    }
    sleep(ONE_TRY).await;
    assert_eq!(store.merges.load(Ordering::SeqCst), 0);
    store.set_behavior(Behavior::Refuses);
    admit(&quota, samples::id(), 1).await;
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    // Its minute and its day.
    assert_eq!(store.merges.load(Ordering::SeqCst), 2);
}

/// As after a failover to a lagging replica, or an evicted key: no call failed, and the counts still have their name.
#[tokio::test(start_paused = true)]
async fn silently_lost_count_is_restored_when_it_is_asked_for() {
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
    store.set_behavior(Behavior::Refuses);
    admit(&quota, samples::id(), 1).await;
    store.loses_its_counts();
    store.set_behavior(Behavior::Answers);
    sleep(ONE_TRY).await;
    for account in accounts {
        assert_eq!(store.used(account, samples::at(0)).await, (3, 3));
    }
}

/// A panic of the task must not leave the node without the store forever.
#[tokio::test(start_paused = true)]
async fn d19_store_is_asked_again_after_an_attempt_panicked() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::Refuses);
    admit(&quota, account, 5).await;
    store.set_behavior(Behavior::Panics);
    sleep(ONE_TRY).await;
    assert_eq!(store.tries.load(Ordering::SeqCst), 1);
    store.set_behavior(Behavior::Answers);
    admit(&quota, account, 1).await;
    sleep(ONE_TRY).await;
    assert_eq!(store.used(account, now).await, (6, 6));
    assert!(quota.asks_the_store());
}
