//! The contract of [`QuotaStore`](signpost_app::ports::QuotaStore) (D16).

mod cases;
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

/// Runs one case; [`quota_contract!`](crate::quota_contract) makes a test of each.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    F: QuotaFixture,
    O: Future<Output = F> + 'static,
{
    let found = CASES.iter().find(|(of, name, _)| (*of, *name) == (module, case));
    let (_, _, run) = found.expect("the list of tests is the list of cases");
    crate::run::run(run(Fresh::new(open)));
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
