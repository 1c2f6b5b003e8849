//! The contract of [`QuotaStore`](signpost_app::ports::QuotaStore) (D16).

mod concurrent_requests;
mod fixture;
mod windows;

use std::pin::Pin;

pub use fixture::{Fresh, QuotaFixture};

type Case = fn(Fresh) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, &str, Case)] =
            &[$($((stringify!($module), stringify!($case), |fresh| Box::pin($module::$case(fresh))),)*)*];
    };
}

crate::__quota_cases! { [table] () }

/// Not generic, as `crate::run::find` asks.
fn find(module: &str, case: &str) -> Case {
    crate::run::find(CASES, module, case)
}

/// Runs one case; [`quota_contract!`](crate::quota_contract) makes a test of each.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    F: QuotaFixture,
    O: Future<Output = F> + 'static,
{
    crate::run::run(find(module, case)(Fresh::new(open)));
}

/// Makes a test of every case of the contract of a quota store. The argument names a function in scope,
/// `async fn() -> impl QuotaFixture`; see [`QuotaFixture`](crate::QuotaFixture).
#[macro_export]
macro_rules! quota_contract {
    ($open:ident) => {
        mod quota {
            $crate::__quota_cases! { [$crate::__tests] ($crate::quota::run, $open) }
        }
    };
}

/// The list of the cases. It passes the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __quota_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            windows {
                an_admitted_request_counts_in_both_windows
                a_refused_request_counts_in_neither_window
                the_day_is_reported_when_both_windows_are_exhausted
                windows_begin_on_the_full_minute_and_at_midnight
                reading_the_remainder_does_not_count
                accounts_are_independent
                a_budget_of_zero_admits_nothing
                a_new_budget_applies_to_existing_counts
                r22_a_clock_step_back_finds_the_old_counts
                no_clock_step_exceeds_a_windows_limit
                counts_survive_reopening
            }
            concurrent_requests {
                r3_concurrent_requests_are_admitted_exactly_up_to_the_limit
                concurrent_accounts_and_minutes_are_counted_separately
            }
        }
    };
}
