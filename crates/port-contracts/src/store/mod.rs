//! The contract of [`Store`](signpost_app::ports::Store) and
//! [`UnitOfWork`](signpost_app::ports::UnitOfWork): a file for each part of the port.
#![allow(clippy::disallowed_methods, reason = "the cases test the store itself, without use cases")]

/// Lists the cases of a file: `cases! { $ file case case }`. Makes a table of them for this crate. For the adapters it makes a
/// macro with the file's name, which passes the list to another macro, after that macro's own arguments.
macro_rules! cases {
    ($dollar:tt $file:ident $($case:ident)*) => {
        pub(super) const CASES: &[(&str, super::Case)] =
            &[$((stringify!($case), |fresh| Box::pin($case(fresh))),)*];

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $file {
            ([$dollar($dollar callback:tt)*] $dollar arguments:tt) => {
                $dollar($dollar callback)* ! { $dollar arguments $file { $($case)* } }
            };
        }
    };
}

mod account_settings;
mod accounts;
mod addresses;
mod audit;
mod audit_search;
mod batch_deletions;
mod batch_insertions;
mod batch_updates;
mod cases;
mod certificate_removal;
mod certificate_steps;
mod certificate_work;
mod certificates;
mod change_reading;
mod changes;
mod click_credits;
mod concurrent_batches;
mod concurrent_writes;
pub mod corrupt_certificates;
pub mod corrupt_links;
pub mod corrupt_rows;
mod custom_domains;
mod domain_checks;
mod domain_claims;
mod domain_deadlines;
mod domain_diagnosis;
mod domain_operations;
mod domain_settings;
mod domain_steps;
mod expired_people;
mod external_ids;
mod fixture;
mod given;
mod given_up_checks;
mod group_counters;
mod group_membership;
mod groups;
mod identities;
mod keys;
mod leases;
mod limited_resources;
mod link_filters;
mod link_instants;
mod link_limits;
mod link_pages;
mod link_passwords;
mod link_rules;
mod link_states;
mod links;
mod links_on_domains;
mod lost_links;
mod memberships;
mod model;
mod order_budgets;
mod page_contents;
mod page_values;
mod people_steps;
mod pixels;
mod published_links;
mod random_links;
mod random_sequences;
mod remembered_answers;
pub mod resources;
mod room_for_answers;
mod sealed_secrets;
mod sessions;
mod sign_ins;
mod stored;
mod tag_changes;
mod tag_filters;
mod tag_operations;
mod tags;
mod target_hosts;
mod tenants;
mod tickets;
mod time_limits;
mod units_of_work;
pub mod unreadable_people;
pub mod unreadable_rows;
mod users;
mod visible_writes;

use std::pin::Pin;

pub use fixture::{Fresh, StoreFixture};

type Case = fn(Fresh) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($file:ident)*) => {
        const CASES: &[(&str, &[(&str, Case)])] = &[$((stringify!($file), $file::CASES),)*];
    };
}

crate::__store_files! { [table] () }

/// The file and the name of each case.
pub fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    CASES.iter().flat_map(|(file, cases)| cases.iter().map(|(case, _)| (*file, *case)))
}

/// Not generic, as `crate::run::find` asks.
fn find(file: &str, case: &str) -> Case {
    let (_, cases) =
        CASES.iter().find(|(name, _)| *name == file).expect("the list of tests is the list of files");
    let found = cases.iter().find(|(name, _)| *name == case);
    found.expect("the list of tests is the list of cases").1
}

/// Runs one case; [`store_contract!`](crate::store_contract) makes a test of each. `open` makes a fresh store with the
/// given time limit (D6) for the waiting of a call and for a unit of work.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn(std::time::Duration) -> O + 'static)
where
    F: StoreFixture,
    O: Future<Output = F> + 'static,
{
    crate::run::run(find(module, case)(Fresh::new(open)));
}

/// Makes a test of every case of the contract of a store. The argument names a function in scope,
/// `async fn(time_limit: Duration) -> impl StoreFixture`; see [`StoreFixture`](crate::StoreFixture).
#[macro_export]
macro_rules! store_contract {
    ($open:ident) => {
        mod store {
            $crate::__store_files! { [$crate::__tests_of_files] ($crate::store::run, $open) }
        }
    };
}

/// The tests of each file that lists its cases with a macro of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! __tests_of_files {
    (($run:path, $open:ident) $($file:ident)*) => {
        $($crate::$file! { [$crate::__tests] ($run, $open) })*
    };
}

/// One test for each case of a list.
#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    (($run:path, $open:ident) $($module:ident { $($case:ident)* })*) => {
        $(mod $module {
            $(#[test]
            fn $case() {
                $run(stringify!($module), stringify!($case), super::super::$open);
            })*
        })*
    };
}
