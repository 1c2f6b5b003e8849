//! An answer that nobody waited for still says what the store counted.

use std::time::Duration;

use signpost_app::ports::QuotaStore as _;
use signpost_domain::RequestBudget;
use signpost_port_contracts::samples;
use tokio::time::sleep;

use crate::failing_store::{FailingStore, Mood};

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

#[tokio::test(start_paused = true)]
async fn a_request_that_was_counted_late_is_not_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::IsSlow(Duration::from_millis(200)));
    for _ in 0..4 {
        quota.admit(account, BUDGET, now).await.unwrap();
    }
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.used(account, now).await, (4, 4));
}

/// What is counted from memory and by nobody else is merged nevertheless.
#[tokio::test(start_paused = true)]
async fn a_slow_store_gets_what_it_was_not_asked() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::IsSlow(Duration::from_millis(200)));
    for _ in 0..30 {
        quota.admit(account, BUDGET, now).await.unwrap();
    }
    store.becomes(Mood::Answers);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(store.used(account, now).await, (30, 30));
}

/// The task that merges may be at work before the answer comes.
#[tokio::test(start_paused = true)]
async fn a_request_whose_answer_comes_after_the_merge_counts_once() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::Refuses);
    quota.admit(account, BUDGET, now).await.unwrap();
    sleep(Duration::from_millis(800)).await;
    // Asked 0.2 s before the try, answered 0.3 s after it.
    store.becomes(Mood::IsSlowOnlyWith(account, Duration::from_millis(500)));
    quota.admit(account, BUDGET, now).await.unwrap();
    store.becomes(Mood::Answers);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.used(account, now).await, (2, 2));
}

/// A store that refused what the memory admitted has not counted it.
#[tokio::test(start_paused = true)]
async fn a_request_that_the_store_refused_late_is_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let other = store.another_node();
    let (account, now) = (samples::id(), samples::at(0));
    for _ in 0..100 {
        other.admit(account, BUDGET, now).await.unwrap();
    }
    store.becomes(Mood::IsSlow(Duration::from_millis(200)));
    quota.admit(account, BUDGET, now).await.unwrap();
    store.becomes(Mood::Answers);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.used(account, now).await, (101, 101));
}

/// Nobody knows whether it was counted, and none goes uncounted (ADR 15).
#[tokio::test(start_paused = true)]
async fn a_request_whose_answer_never_comes_is_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::Hangs);
    quota.admit(account, BUDGET, now).await.unwrap();
    store.becomes(Mood::Answers);
    // The try that the failure began finds nothing missing yet.
    sleep(Duration::from_millis(500)).await;
    assert_eq!(store.used(account, now).await, (0, 0));
    sleep(Duration::from_secs(3)).await;
    assert_eq!(store.used(account, now).await, (1, 1));
}
