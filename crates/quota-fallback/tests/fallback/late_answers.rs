//! A late answer still tells what the store counted.

use std::time::Duration;

use signpost_app::ports::QuotaStore as _;
use signpost_domain::RequestBudget;
use signpost_port_contracts::samples;
use tokio::time::sleep;

use crate::failing_store::{Behavior, FailingStore};

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

#[tokio::test(start_paused = true)]
async fn request_with_a_late_confirmation_is_not_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::IsSlow(Duration::from_millis(200)));
    for _ in 0..4 {
        quota.admit(account, BUDGET, now).await.unwrap();
    }
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.used(account, now).await, (4, 4));
}

/// Requests that only memory counted are merged nevertheless.
#[tokio::test(start_paused = true)]
async fn requests_that_a_slow_store_was_not_asked_about_are_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::IsSlow(Duration::from_millis(200)));
    for _ in 0..30 {
        quota.admit(account, BUDGET, now).await.unwrap();
    }
    store.set_behavior(Behavior::Answers);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(store.used(account, now).await, (30, 30));
}

/// The merging task may run before the answer comes.
#[tokio::test(start_paused = true)]
async fn request_whose_answer_comes_after_the_merge_counts_once() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::Refuses);
    quota.admit(account, BUDGET, now).await.unwrap();
    sleep(Duration::from_millis(800)).await;
    // Asked 0.2 s before the attempt, answered 0.3 s after it.
    store.set_behavior(Behavior::IsSlowOnlyWith(account, Duration::from_millis(500)));
    quota.admit(account, BUDGET, now).await.unwrap();
    store.set_behavior(Behavior::Answers);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.used(account, now).await, (2, 2));
}

/// A store that refused a request which memory admitted has not counted it.
#[tokio::test(start_paused = true)]
async fn request_that_the_store_refuses_late_is_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let other = store.another_node();
    let (account, now) = (samples::id(), samples::at(0));
    for _ in 0..100 {
        other.admit(account, BUDGET, now).await.unwrap();
    }
    store.set_behavior(Behavior::IsSlow(Duration::from_millis(200)));
    quota.admit(account, BUDGET, now).await.unwrap();
    store.set_behavior(Behavior::Answers);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(store.used(account, now).await, (101, 101));
}

/// It is unknown whether it was counted, and no request goes uncounted (ADR 15).
#[tokio::test(start_paused = true)]
async fn request_without_an_answer_is_merged() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::Hangs);
    quota.admit(account, BUDGET, now).await.unwrap();
    store.set_behavior(Behavior::Answers);
    // The attempt that the failure started finds nothing missing yet.
    sleep(Duration::from_millis(500)).await;
    assert_eq!(store.used(account, now).await, (0, 0));
    sleep(Duration::from_secs(3)).await;
    assert_eq!(store.used(account, now).await, (1, 1));
}
