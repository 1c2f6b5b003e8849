//! The counts in memory.

use std::time::Duration;

use signpost_app::ports::QuotaStore as _;
use signpost_domain::{QuotaRemaining, RequestBudget};
use signpost_port_contracts::samples;

use crate::failing_store::{Behavior, FailingStore};

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

/// D16 and D19: without the store, too, a clock that steps back finds the old counts, minutes for an hour and days for three
/// days.
#[tokio::test(start_paused = true)]
async fn d16_memory_keeps_minutes_for_an_hour_and_days_for_three_days() {
    let (store, quota) = FailingStore::behind_a_fallback();
    store.set_behavior(Behavior::Refuses);
    let (account, now) = (samples::id(), samples::at(0));
    quota.admit(account, BUDGET, now).await.unwrap();
    let left = async || quota.remaining(account, BUDGET, now).await.unwrap();
    for (later, minute, day) in [
        (Duration::from_hours(1), 99, 998),
        (Duration::from_mins(61), 100, 997),
        (Duration::from_hours(72), 100, 997),
        (Duration::from_hours(96), 100, 1_000),
    ] {
        quota.admit(account, BUDGET, now.plus(later)).await.unwrap();
        assert_eq!(left().await, QuotaRemaining { minute, day }, "{later:?} later");
    }
}

/// A new plan applies to the next request, also from memory.
#[tokio::test(start_paused = true)]
async fn new_budget_is_checked_against_the_same_counts() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    for _ in 0..6 {
        quota.admit(account, BUDGET, now).await.unwrap();
    }
    store.set_behavior(Behavior::Refuses);
    let small = RequestBudget { per_minute: 5, per_day: 8 };
    assert_eq!(quota.remaining(account, small, now).await.unwrap(), QuotaRemaining { minute: 0, day: 2 });
}
