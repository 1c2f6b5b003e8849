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
