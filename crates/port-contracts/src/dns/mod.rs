//! The contract of [`DnsProvider`](signpost_app::ports::DnsProvider) (D39, D42).

mod availability;
mod caa;
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

/// Not generic, as `crate::run::find` asks.
fn find(module: &str, case: &str) -> Case {
    crate::run::find(CASES, module, case)
}

/// Runs one case; [`dns_contract!`](crate::dns_contract) makes a test of each.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    F: DnsFixture,
    O: Future<Output = F> + 'static,
{
    crate::run::run(find(module, case)(Fresh::new(open)));
}

/// Makes a test of every case of the contract of a DNS provider. The argument names a function in scope,
/// `async fn() -> impl DnsFixture`; see [`DnsFixture`](crate::DnsFixture).
#[macro_export]
macro_rules! dns_contract {
    ($open:ident) => {
        mod dns {
            $crate::__dns_cases! { [$crate::__tests] ($crate::dns::run, $open) }
        }
    };
}

/// The list of the cases. It passes the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __dns_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            texts {
                a_name_has_the_texts_that_were_set
                a_missing_name_has_no_texts
                other_record_types_are_not_texts
                the_strings_of_one_record_are_joined
                invalid_utf_8_is_replaced
                names_are_looked_up_ignoring_case
                aliases_lead_to_texts
                a_broken_alias_chain_has_no_texts
                an_overlong_name_has_no_texts
            }
            chains {
                a_hostname_has_the_addresses_of_both_families
                a_hostname_may_have_addresses_of_one_family
                a_missing_hostname_has_no_addresses
                a_hostname_with_only_texts_has_no_addresses
                an_alias_chain_is_reported_in_order_and_lower_case
                d39_at_most_eight_aliases_are_followed
                an_alias_cycle_has_no_addresses
                an_alias_of_itself_has_no_addresses
                a_broken_alias_chain_is_an_answer
                an_alias_may_lead_to_a_name_that_is_no_hostname
            }
            caa {
                d189_a_name_has_the_caa_records_that_were_set
                d189_a_missing_name_has_no_caa_records
                d189_other_record_types_are_not_caa_records
                d189_records_of_the_names_above_are_not_included
                d189_aliases_lead_to_caa_records
            }
            availability {
                a_new_record_is_seen_at_once_after_a_negative_answer
                a_change_and_a_removal_are_seen_at_once
                d42_an_unavailable_server_is_an_error
            }
        }
    };
}
