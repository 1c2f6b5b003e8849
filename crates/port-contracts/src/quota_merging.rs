//! The contract of [`MergingQuotaStore`] (D19), beside that of a quota store, which it is too.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use signpost_app::ports::{CountId, CountedElsewhere, MergingQuotaStore};
use signpost_domain::{QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget};

use crate::concurrency::at_once;
use crate::samples;

type Case = fn(Arc<dyn MergingQuotaStore>) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, Case)] = &[$($((stringify!($case), |store| Box::pin($case(store))),)*)*];
    };
}

crate::__quota_merging_cases! { [table] () }

/// Runs one case; [`quota_merging_contract!`](crate::quota_merging_contract) makes a test of each.
#[doc(hidden)]
pub fn run<O>(_module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    O: Future<Output = Arc<dyn MergingQuotaStore>> + 'static,
{
    let (_, run) =
        CASES.iter().find(|(name, _)| *name == case).expect("the list of tests is the list of cases");
    crate::run::run(async move { run(open().await).await });
}

/// Makes a test of every case of the contract of a quota store that merges. The argument names a function in scope,
/// `async fn() -> Arc<dyn MergingQuotaStore>`; the stores may share their counts, each case has accounts of its own.
#[macro_export]
macro_rules! quota_merging_contract {
    ($open:ident) => {
        mod quota_merging {
            $crate::__quota_merging_cases! { [$crate::__tests] ($crate::quota_merging::run, $open) }
        }
    };
}

/// The list of the cases; see `store/cases.rs`.
#[doc(hidden)]
#[macro_export]
macro_rules! __quota_merging_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            counts {
                what_is_missing_is_added_to_the_window_and_to_no_other
                a_count_is_raised_to_what_the_store_once_had_and_never_falls
                the_count_is_raised_before_what_is_missing_is_added
                a_merge_that_is_repeated_adds_nothing
                what_the_store_said_it_took_in_is_not_added_again_when_it_was_lost
                merges_of_one_count_add_only_what_is_new
                a_count_may_be_merged_beyond_the_budget
                concurrent_merges_and_requests_all_count
                repeated_merges_at_the_same_time_add_once
            }
            tries {
                a_try_gives_the_same_name_each_time_and_counts_nothing
            }
        }
    };
}

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

/// A name that no other case has, on no day: the stores may outlive the tests.
fn another() -> CountId {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = u128::from(NUMBER.fetch_add(1, Ordering::Relaxed));
    // Accounts of cases are their own, so names only need to differ within a case.
    CountId::from_u128(number | 0xfedc_ba98 << 96)
}

/// So many that no store has heard of.
fn missing(alone: u32) -> CountedElsewhere {
    CountedElsewhere { count: another(), alone, merged: 0, in_store: 0 }
}

fn in_store(in_store: u32) -> CountedElsewhere {
    CountedElsewhere { in_store, ..missing(0) }
}

async fn what_is_missing_is_added_to_the_window_and_to_no_other(store: Arc<dyn MergingQuotaStore>) {
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

async fn a_count_is_raised_to_what_the_store_once_had_and_never_falls(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    for (floor, left) in [(30, 70), (20, 70), (0, 70), (31, 69)] {
        store.merge(account, QuotaWindow::Minute, now, in_store(floor)).await.unwrap();
        let remaining = store.remaining(account, BUDGET, now).await.unwrap();
        assert_eq!(remaining, QuotaRemaining { minute: left, day: 1_000 });
    }
}

/// Two nodes that knew of 20 and admitted 50 each make 120, whether the store kept the 20 or lost them.
async fn the_count_is_raised_before_what_is_missing_is_added(store: Arc<dyn MergingQuotaStore>) {
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

/// Whoever had no answer merges again.
async fn a_merge_that_is_repeated_adds_nothing(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    for window in [QuotaWindow::Minute, QuotaWindow::Day] {
        let counted = CountedElsewhere { in_store: 3, ..missing(4) };
        for _ in 0..3 {
            assert_eq!(store.merge(account, window, now, counted).await.unwrap(), 7);
        }
        // What another process counted is its own.
        assert_eq!(store.merge(account, window, now, missing(4)).await.unwrap(), 11);
    }
    let remaining = store.remaining(account, BUDGET, now).await.unwrap();
    assert_eq!(remaining, QuotaRemaining { minute: 89, day: 989 });
}

async fn merges_of_one_count_add_only_what_is_new(store: Arc<dyn MergingQuotaStore>) {
    let (account, now, count) = (samples::id(), samples::at(0), another());
    for (alone, merged, after) in [(2, 0, 2), (5, 0, 5), (6, 5, 6), (6, 6, 6), (4, 0, 6), (7, 2, 7)] {
        let counted = CountedElsewhere { count, alone, merged, in_store: 0 };
        assert_eq!(store.merge(account, QuotaWindow::Minute, now, counted).await.unwrap(), after);
    }
}

/// It is in what the store once had.
async fn what_the_store_said_it_took_in_is_not_added_again_when_it_was_lost(
    store: Arc<dyn MergingQuotaStore>,
) {
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

async fn repeated_merges_at_the_same_time_add_once(store: Arc<dyn MergingQuotaStore>) {
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

async fn a_try_gives_the_same_name_each_time_and_counts_nothing(store: Arc<dyn MergingQuotaStore>) {
    let name = store.try_write(another()).await.unwrap();
    let (account, now) = (samples::id(), samples::at(0));
    store.admit(account, BUDGET, now).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.try_write(another()).await.unwrap(), name);
    }
    let remaining = QuotaRemaining { minute: 99, day: 999 };
    assert_eq!(store.remaining(account, BUDGET, now).await.unwrap(), remaining);
}
