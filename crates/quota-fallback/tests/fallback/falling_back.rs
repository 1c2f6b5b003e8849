//! Requests go on without the store, and soon without asking it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use signpost_app::ports::QuotaStore as _;
use signpost_domain::{QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget};
use signpost_port_contracts::samples;
use tokio::time::Instant;

use crate::failing_store::{FailingStore, Mood};

const BUDGET: RequestBudget = RequestBudget { per_minute: 10, per_day: 1_000 };

fn admitted(minute: u32, day: u32) -> QuotaDecision {
    QuotaDecision::Admitted { remaining: QuotaRemaining { minute, day } }
}

#[tokio::test(start_paused = true)]
async fn d19_a_request_waits_50_ms_at_most_and_the_sixth_not_at_all() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::Hangs);
    for (waits, number) in [50, 50, 50, 50, 50, 0, 0, 0].into_iter().zip(1..) {
        let start = Instant::now();
        let decision = quota.admit(account, BUDGET, now).await.unwrap();
        // Timers of tokio are up to a millisecond late.
        let waited = start.elapsed().saturating_sub(Duration::from_millis(waits));
        assert!(waited <= Duration::from_millis(1), "request {number}: {:?}", start.elapsed());
        assert_eq!(decision, admitted(10 - number, 1_000 - number));
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 5);
    assert_eq!(quota.remaining(account, BUDGET, now).await.unwrap(), QuotaRemaining { minute: 2, day: 992 });
}

#[tokio::test(start_paused = true)]
async fn five_failures_in_a_row_are_needed_before_the_store_is_left_alone() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    let budget = RequestBudget { per_minute: 1_000, ..BUDGET };
    for _ in 0..5 {
        store.becomes(Mood::Refuses);
        for _ in 0..4 {
            quota.admit(account, budget, now).await.unwrap();
        }
        store.becomes(Mood::Answers);
        quota.admit(account, budget, now).await.unwrap();
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 25);
    store.becomes(Mood::Refuses);
    for _ in 0..20 {
        quota.admit(account, budget, now).await.unwrap();
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 30);
}

/// The memory goes on from what the store last said, also of requests that other nodes sent.
#[tokio::test(start_paused = true)]
async fn d19_the_memory_goes_on_where_the_store_stopped() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let other = store.another_node();
    let (account, now) = (samples::id(), samples::at(0));
    for _ in 0..4 {
        other.admit(account, BUDGET, now).await.unwrap();
    }
    assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(5, 995));
    store.becomes(Mood::Refuses);
    for left in (0..5).rev() {
        assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(left, 990 + left));
    }
    let remaining = QuotaRemaining { minute: 0, day: 990 };
    let refused = QuotaDecision::Exhausted { window: QuotaWindow::Minute, remaining };
    assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), refused);
    // The next minute begins with what the day has left.
    assert_eq!(quota.admit(account, BUDGET, samples::at(60_000)).await.unwrap(), admitted(9, 989));
}

/// The store's next answer does not know of it yet.
#[tokio::test(start_paused = true)]
async fn a_request_decided_from_memory_counts_there_beside_what_the_store_says() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    for (mood, left) in [
        (Mood::Answers, 9),
        (Mood::Refuses, 8),
        // The store has admitted two.
        (Mood::Answers, 8),
        // Three were admitted in all.
        (Mood::Refuses, 6),
    ] {
        store.becomes(mood);
        assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(left, 990 + left));
    }
}

/// Contract D19: at most nodes × limit.
#[tokio::test(start_paused = true)]
async fn d19_nodes_without_their_store_admit_at_most_the_limit_each() {
    let (store, first) = FailingStore::behind_a_fallback();
    let nodes = [first, store.another_node(), store.another_node()];
    let (account, now) = (samples::id(), samples::at(0));
    let mut admitted = 0;
    for number in 0..200_usize {
        if number == 5 {
            store.becomes(Mood::Refuses);
        }
        let decision = nodes[number % 3].admit(account, BUDGET, now).await.unwrap();
        admitted += u32::from(matches!(decision, QuotaDecision::Admitted { .. }));
    }
    // Five by the store; the nodes had then heard of 4, 5 and 3.
    assert_eq!(admitted, 5 + 6 + 5 + 7);
}

/// Corrupt counts are one account's trouble.
#[tokio::test(start_paused = true)]
async fn corrupt_counts_are_decided_from_memory_and_the_store_is_asked_on() {
    let (store, quota) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    store.becomes(Mood::IsCorrupt);
    for number in 1..=10 {
        assert_eq!(quota.admit(account, BUDGET, now).await.unwrap(), admitted(10 - number, 1_000 - number));
    }
    assert_eq!(store.admissions.load(Ordering::SeqCst), 10);
}

/// R40: as after a restart on a full disk. What was counted before can be read, so it is not admitted once more.
#[tokio::test(start_paused = true)]
async fn d19_counts_go_on_from_a_store_that_can_only_be_read() {
    let (store, before) = FailingStore::behind_a_fallback();
    let (account, now) = (samples::id(), samples::at(0));
    for _ in 0..8 {
        before.admit(account, BUDGET, now).await.unwrap();
    }
    drop(before);
    store.becomes(Mood::IsReadOnly);
    let restarted = store.another_node();
    for left in [1, 0] {
        assert_eq!(restarted.admit(account, BUDGET, now).await.unwrap(), admitted(left, 990 + left));
    }
    let refused = restarted.admit(account, BUDGET, now).await.unwrap();
    assert!(matches!(refused, QuotaDecision::Exhausted { window: QuotaWindow::Minute, .. }), "{refused:?}");
    // Also once the store is no longer asked, of an account that was not seen before, in a minute that is new.
    let (other, later) = (samples::id(), samples::at(60_000));
    for _ in 0..5 {
        restarted.admit(account, BUDGET, later).await.unwrap();
    }
    assert!(!restarted.asks_the_store());
    store.becomes(Mood::Answers);
    store.another_node().admit(other, BUDGET, later).await.unwrap();
    store.becomes(Mood::IsReadOnly);
    assert_eq!(restarted.admit(other, BUDGET, later).await.unwrap(), admitted(8, 998));
}
