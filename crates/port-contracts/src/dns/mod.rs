//! The contract of [`DnsProvider`](signpost_app::ports::DnsProvider) (D39, D42).

mod availability;
mod cases;
mod chains;
mod fixture;
mod texts;

use std::pin::Pin;

pub use fixture::{DnsFixture, Fresh, Record};

type Case = fn(Fresh) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, &str, Case)] =
            &[$($((stringify!($module), stringify!($case), |fresh| Box::pin($module::$case(fresh))),)*)*];
    };
}

crate::__dns_cases! { [table] () }

/// Runs one case; [`dns_contract!`](crate::dns_contract) makes a test of each.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    F: DnsFixture,
    O: Future<Output = F> + 'static,
{
    let found = CASES.iter().find(|(of, name, _)| (*of, *name) == (module, case));
    let (_, _, run) = found.expect("the list of tests is the list of cases");
    crate::run::run(run(Fresh::new(open)));
}

/// Makes a test of every case of the contract of what asks DNS. The argument names a function in scope,
/// `async fn() -> impl DnsFixture`; see [`DnsFixture`](crate::DnsFixture).
#[macro_export]
macro_rules! dns_contract {
    ($open:ident) => {
        mod dns {
            $crate::__dns_cases! { [$crate::__tests] ($crate::dns::run, $open) }
        }
    };
}
