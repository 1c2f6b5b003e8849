//! The contract of [`ClickStore`](signpost_app::ports::ClickStore): a file for each part of the port.

mod appending;
mod cases;
mod counting;
mod deletion;
mod exports;
mod fixture;
mod given;
mod model;
mod recent;
mod upkeep;
mod visitor_keys;

use std::pin::Pin;

pub use fixture::{ClickFixture, Fresh};

type Case = fn(Fresh) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, &str, Case)] =
            &[$($((stringify!($module), stringify!($case), |fresh| Box::pin($module::$case(fresh))),)*)*];
    };
}

crate::__click_cases! { [table] () }

/// Not generic, as `crate::run::find` asks.
fn find(module: &str, case: &str) -> Case {
    crate::run::find(CASES, module, case)
}

/// Runs one case; [`click_contract!`](crate::click_contract) makes a test of each.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    F: ClickFixture,
    O: Future<Output = F> + 'static,
{
    crate::run::run(find(module, case)(Fresh::new(open)));
}

/// Makes a test of every case of the contract of a click store. The argument names a function in scope,
/// `async fn() -> impl ClickFixture`; see [`ClickFixture`](crate::ClickFixture).
#[macro_export]
macro_rules! click_contract {
    ($open:ident) => {
        mod clicks {
            $crate::__click_cases! { [$crate::__tests] ($crate::clicks::run, $open) }
        }
    };
}
