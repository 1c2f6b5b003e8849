//! The contract of [`MergingQuotaStore`] (D19), beside that of a quota store, which it is too.

use std::pin::Pin;
use std::sync::Arc;

use signpost_app::ports::{CountedElsewhere, MergingQuotaStore};
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
                a_count_is_raised_to_what_was_counted_at_least_and_never_falls
                what_is_missing_is_added_before_the_count_is_raised
                a_count_may_be_merged_beyond_the_budget
                concurrent_merges_and_requests_all_count
            }
        }
    };
}

const BUDGET: RequestBudget = RequestBudget { per_minute: 100, per_day: 1_000 };

const fn missing(missing: u32) -> CountedElsewhere {
    CountedElsewhere { missing, at_least: 0 }
}

const fn at_least(at_least: u32) -> CountedElsewhere {
    CountedElsewhere { missing: 0, at_least }
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

async fn a_count_is_raised_to_what_was_counted_at_least_and_never_falls(store: Arc<dyn MergingQuotaStore>) {
    let (account, now) = (samples::id(), samples::at(0));
    for (floor, left) in [(30, 70), (20, 70), (0, 70), (31, 69)] {
        store.merge(account, QuotaWindow::Minute, now, at_least(floor)).await.unwrap();
        let remaining = store.remaining(account, BUDGET, now).await.unwrap();
        assert_eq!(remaining, QuotaRemaining { minute: left, day: 1_000 });
    }
}

/// Two nodes that knew of 20 and admitted 50 each make 120, whether the store kept the 20 or lost them.
async fn what_is_missing_is_added_before_the_count_is_raised(store: Arc<dyn MergingQuotaStore>) {
    let now = samples::at(0);
    for kept in [20, 0] {
        let account = samples::id();
        store.merge(account, QuotaWindow::Day, now, missing(kept)).await.unwrap();
        for _ in 0..2 {
            let counted = CountedElsewhere { missing: 50, at_least: 70 };
            store.merge(account, QuotaWindow::Day, now, counted).await.unwrap();
        }
        assert_eq!(store.remaining(account, BUDGET, now).await.unwrap().day, 880, "{kept} were kept");
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
