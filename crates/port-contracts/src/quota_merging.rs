//! The contract of [`MergingQuotaStore`] (D19). Such a store also passes the contract of a quota store.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use signpost_app::ports::{CountId, CountedElsewhere, MergingQuotaStore};
use signpost_domain::{QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget};

use crate::run::at_once;
use crate::samples;

type Case = fn(Arc<dyn MergingQuotaStore>) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, &str, Case)] =
            &[$($((stringify!($module), stringify!($case), |store| Box::pin($case(store))),)*)*];
    };
}

crate::__quota_merging_cases! { [table] () }

/// Not generic, as `crate::run::find` asks.
fn find(module: &str, case: &str) -> Case {
    crate::run::find(CASES, module, case)
}

/// Runs one case; [`quota_merging_contract!`](crate::quota_merging_contract) makes a test of each.
#[doc(hidden)]
pub fn run<O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    O: Future<Output = Arc<dyn MergingQuotaStore>> + 'static,
{
    let run = find(module, case);
    crate::run::run(async move { run(open().await).await });
}

/// Makes a test of every case of the contract of a quota store that merges. The argument names a function in scope,
/// `async fn() -> Arc<dyn MergingQuotaStore>`. The stores may share their counts, because each case uses its own accounts.
#[macro_export]
macro_rules! quota_merging_contract {
    ($open:ident) => {
        mod quota_merging {
            $crate::__quota_merging_cases! { [$crate::__tests] ($crate::quota_merging::run, $open) }
        }
    };
}

/// Passes the list of the cases to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __quota_merging_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            counts {
                a_merge_counts_in_its_window_only
                a_merge_restores_lost_counts_and_never_lowers_one
                lost_counts_are_restored_before_new_ones_are_added
                a_repeated_merge_adds_nothing
                merge_is_not_repeated_when_the_reply_is_lost
                merges_of_a_growing_count_add_the_difference
                a_count_may_be_merged_beyond_the_budget
                concurrent_merges_and_requests_all_count
                concurrent_repetitions_of_a_merge_add_once
            }
            tries {
                a_write_test_returns_a_stable_name_and_counts_nothing
            }
        }
    };
}

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

/// A name that no other case or run uses: the stores may outlive the tests.
fn unique_count() -> CountId {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = u128::from(NUMBER.fetch_add(1, Ordering::Relaxed));
    // Cases do not share accounts, so names only need to differ within a case.
    CountId::from_u128(number | 0xfedc_ba98 << 96)
}

/// A count of `alone` requests that no store has merged.
fn missing(alone: u32) -> CountedElsewhere {
    CountedElsewhere { count: unique_count(), alone, merged: 0, in_store: 0 }
}

fn in_store(in_store: u32) -> CountedElsewhere {
    CountedElsewhere { in_store, ..missing(0) }
}

async fn a_merge_counts_in_its_window_only(store: Arc<dyn MergingQuotaStore>) {
    let (account, other, now) = (samples::id(), samples::id(), samples::at(0));
    store.admit(account, BUDGET, now).await.unwrap();
    store.merge(account, QuotaWindow::Minute, now, missing(4)).await.unwrap();
    let left = |minute, day| QuotaRemaining { minute, day };
    assert_eq!(store.remaining(account, BUDGET, now).await.unwrap(), left(95, 999));
    store.merge(account, QuotaWindow::Day, now, missing(7)).await.unwrap();
    store.merge(account, QuotaWindow::Day, now, missing(2)).await.unwrap();
    assert_eq!(store.remaining(account, BUDGET, now).await.unwrap(), left(95, 990));
    // Any instant of the window names it; the next minute and other accounts are untouched.
    let start = QuotaWindow::Minute.start(now);
    store.merge(account, QuotaWindow::Minute, start, missing(5)).await.unwrap();
    assert_eq!(store.remaining(account, BUDGET, now).await.unwrap(), left(90, 990));
    assert_eq!(store.remaining(account, BUDGET, samples::at(60_000)).await.unwrap(), left(100, 990));
    assert_eq!(store.remaining(other, BUDGET, now).await.unwrap(), left(100, 1_000));
}

async fn a_merge_restores_lost_counts_and_never_lowers_one(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    for (floor, left) in [(30, 70), (20, 70), (0, 70), (31, 69)] {
        store.merge(account, QuotaWindow::Minute, now, in_store(floor)).await.unwrap();
        let remaining = store.remaining(account, BUDGET, now).await.unwrap();
        assert_eq!(remaining, QuotaRemaining { minute: left, day: 1_000 });
    }
}

/// Two nodes that knew of 20 requests and admitted 50 each add up to 120, whether the store kept the 20 or lost them.
async fn lost_counts_are_restored_before_new_ones_are_added(store: Arc<dyn MergingQuotaStore>) {
    let now = samples::at(0);
    for kept in [20, 0] {
        let account = samples::id();
        store.merge(account, QuotaWindow::Day, now, missing(kept)).await.unwrap();
        for count in [70, 120] {
            let counted = CountedElsewhere { in_store: 20, ..missing(50) };
            assert_eq!(store.merge(account, QuotaWindow::Day, now, counted).await.unwrap(), count);
        }
        assert_eq!(store.remaining(account, BUDGET, now).await.unwrap().day, 880, "{kept} were kept");
    }
}

/// A node that got no reply merges again.
async fn a_repeated_merge_adds_nothing(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    for window in [QuotaWindow::Minute, QuotaWindow::Day] {
        let counted = CountedElsewhere { in_store: 3, ..missing(4) };
        for _ in 0..3 {
            assert_eq!(store.merge(account, window, now, counted).await.unwrap(), 7);
        }
        // The count of another process is independent.
        assert_eq!(store.merge(account, window, now, missing(4)).await.unwrap(), 11);
    }
    let remaining = store.remaining(account, BUDGET, now).await.unwrap();
    assert_eq!(remaining, QuotaRemaining { minute: 89, day: 989 });
}

async fn merges_of_a_growing_count_add_the_difference(store: Arc<dyn MergingQuotaStore>) {
    let (account, now, count) = (samples::id(), samples::at(0), unique_count());
    for (alone, merged, after) in [(2, 0, 2), (5, 0, 5), (6, 5, 6), (6, 6, 6), (4, 0, 6), (7, 2, 7)] {
        let counted = CountedElsewhere { count, alone, merged, in_store: 0 };
        assert_eq!(store.merge(account, QuotaWindow::Minute, now, counted).await.unwrap(), after);
    }
}

/// `in_store` already includes the 5 merged requests.
async fn merge_is_not_repeated_when_the_reply_is_lost(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    let counted = CountedElsewhere { merged: 5, in_store: 8, ..missing(7) };
    for _ in 0..2 {
        assert_eq!(store.merge(account, QuotaWindow::Day, now, counted).await.unwrap(), 10);
    }
}

async fn a_count_may_be_merged_beyond_the_budget(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    store.merge(account, QuotaWindow::Day, now, missing(5_000)).await.unwrap();
    let remaining = QuotaRemaining { minute: 100, day: 0 };
    let refused = QuotaDecision::Exhausted { window: QuotaWindow::Day, remaining };
    assert_eq!(store.admit(account, BUDGET, now).await.unwrap(), refused);
}

async fn concurrent_merges_and_requests_all_count(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    let budget = RequestBudget { per_minute: 10_000, per_day: 10_000 };
    at_once(64, |number| {
        let store = Arc::clone(&store);
        async move {
            if number % 2 == 0 {
                store.admit(account, budget, now).await.unwrap();
            } else {
                store.merge(account, QuotaWindow::Minute, now, missing(3)).await.unwrap();
            }
        }
    })
    .await;
    let remaining = store.remaining(account, budget, now).await.unwrap();
    assert_eq!(remaining, QuotaRemaining { minute: 10_000 - 32 * 4, day: 10_000 - 32 });
}

async fn concurrent_repetitions_of_a_merge_add_once(store: Arc<dyn MergingQuotaStore>) {
    let (account, now, counted) = (samples::id(), samples::at(0), missing(3));
    at_once(32, |_| {
        let store = Arc::clone(&store);
        async move {
            store.merge(account, QuotaWindow::Minute, now, counted).await.unwrap();
        }
    })
    .await;
    assert_eq!(store.remaining(account, BUDGET, now).await.unwrap().minute, 97);
}

async fn a_write_test_returns_a_stable_name_and_counts_nothing(store: Arc<dyn MergingQuotaStore>) {
    let name = store.try_write(unique_count()).await.unwrap();
    let (account, now) = (samples::id(), samples::at(0));
    store.admit(account, BUDGET, now).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.try_write(unique_count()).await.unwrap(), name);
    }
    let remaining = QuotaRemaining { minute: 99, day: 999 };
    assert_eq!(store.remaining(account, BUDGET, now).await.unwrap(), remaining);
}
