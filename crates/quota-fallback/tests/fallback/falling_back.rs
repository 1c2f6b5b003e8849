//! Requests continue without the store, and soon without asking it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use signpost_app::ports::QuotaStore as _;
use signpost_domain::{QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget};
use signpost_port_contracts::samples;
use tokio::time::Instant;

use crate::failing_store::{Behavior, FailingStore};

const BUDGET: RequestBudget = RequestBudget { per_minute: 10, per_day: 1_000 };

fn admitted(minute: u32, day: u32) -> QuotaDecision {
    QuotaDecision::Admitted { remaining: QuotaRemaining { minute, day } }
}

#[tokio::test(start_paused = true)]
async fn d19_request_waits_50_ms_at_most_and_the_sixth_not_at_all() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::Hangs);
    for (waits, number) in [50, 50, 50, 50, 50, 0, 0, 0].into_iter().zip(1..) {
        let start = Instant::now();
        let decision = quota.admit(account, BUDGET, now).await.unwrap();
        // Tokio's timers are up to a millisecond late.
        let waited = start.elapsed().saturating_sub(Duration::from_millis(waits));
        assert!(waited <= Duration::from_millis(1), "request {number}: {:?}", start.elapsed());
        assert_eq!(decision, admitted(10 - number, 1_000 - number));
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
    assert_eq!(quota.remaining(account, BUDGET, now).await.unwrap(), QuotaRemaining { minute: 2, day: 992 });
}

#[tokio::test(start_paused = true)]
async fn d19_only_five_failures_in_a_row_stop_asking_the_store() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    let budget = RequestBudget { per_minute: 1_000, ..BUDGET };
    for _ in 0..5 {
        store.set_behavior(Behavior::Refuses);
        for _ in 0..4 {
            quota.admit(account, budget, now).await.unwrap();
        }
        store.set_behavior(Behavior::Answers);
        quota.admit(account, budget, now).await.unwrap();
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 25);
    store.set_behavior(Behavior::Refuses);
    for _ in 0..20 {
        quota.admit(account, budget, now).await.unwrap();
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 30);
}

/// Memory continues from the store's last answer, which includes requests of other nodes.
#[tokio::test(start_paused = true)]
async fn d19_memory_continues_from_the_stores_last_answer() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let other = store.another_node();
    let (account, now) = (samples::id(), samples::at(0));
    for _ in 0..4 {
        other.admit(account, BUDGET, now).await.unwrap();
    }
    assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(5, 995));
    store.set_behavior(Behavior::Refuses);
    for left in (0..5).rev() {
        assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(left, 990 + left));
    }
    let remaining = QuotaRemaining { minute: 0, day: 990 };
    let refused = QuotaDecision::Exhausted { window: QuotaWindow::Minute, remaining };
    assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), refused);
    // The next minute starts with what is left of the day.
    assert_eq!(quota.admit(account, BUDGET, samples::at(60_000)).await.unwrap(), admitted(9, 989));
}

/// The store's next answer does not include it yet.
#[tokio::test(start_paused = true)]
async fn request_decided_from_memory_counts_on_top_of_the_stores_count() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    for (behavior, left) in [
        (Behavior::Answers, 9),
        (Behavior::Refuses, 8),
        // The store has admitted two requests.
        (Behavior::Answers, 8),
        // Three requests were admitted in all.
        (Behavior::Refuses, 6),
    ] {
        store.set_behavior(behavior);
        assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(left, 990 + left));
    }
}

/// D19: at most nodes × limit.
#[tokio::test(start_paused = true)]
async fn d19_nodes_without_their_store_admit_at_most_the_limit_each() {
    let (store, first) = FailingStore::behind_a_fallback();
    let nodes = [first, store.another_node(), store.another_node()];
    let (account, now) = (samples::id(), samples::at(0));
    let mut admitted = 0;
    for number in 0..200_usize {
        if number == 5 {
            store.set_behavior(Behavior::Refuses);
        }
        let decision = nodes[number % 3].admit(account, BUDGET, now).await.unwrap();
        admitted += u32::from(matches!(decision, QuotaDecision::Admitted { .. }));
    }
    // The store has admitted five; the nodes then knew of 4, 5 and 3.
    assert_eq!(admitted, 5 + 6 + 5 + 7);
}

/// Corrupt counts affect only their account.
#[tokio::test(start_paused = true)]
async fn corrupt_counts_fall_back_to_memory_and_the_store_is_still_asked() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.set_behavior(Behavior::IsCorrupt);
    for number in 1..=10 {
        assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(10 - number, 1_000 - number));
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 10);
}

/// R40: as after a restart on a full disk. Earlier counts can be read, so they are not admitted again.
#[tokio::test(start_paused = true)]
async fn d19_counts_continue_from_a_read_only_store() {
    let (store, before) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    for _ in 0..8 {
        before.admit(account, BUDGET, now).await.unwrap();
    }
    drop(before);
    store.set_behavior(Behavior::IsReadOnly);
    let restarted = store.another_node();
    for left in [1, 0] {
        assert_eq!(restarted.admit(account, BUDGET, now).await.unwrap(), admitted(left, 990 + left));
    }
    let refused = restarted.admit(account, BUDGET, now).await.unwrap();
    assert!(matches!(refused, QuotaDecision::Exhausted { window: QuotaWindow::Minute, .. }), "{refused:?}");
    // Also after the store is no longer asked, for a new account in a new minute.
    let (other, later) = (samples::id(), samples::at(60_000));
    for _ in 0..5 {
        restarted.admit(account, BUDGET, later).await.unwrap();
    }
    assert!(!restarted.asks_the_store());
    store.set_behavior(Behavior::Answers);
    store.another_node().admit(other, BUDGET, later).await.unwrap();
    store.set_behavior(Behavior::IsReadOnly);
    assert_eq!(restarted.admit(other, BUDGET, later).await.unwrap(), admitted(8, 998));
}
