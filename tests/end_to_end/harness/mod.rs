//! Starts programs for tests, with clients for them.

mod account;
mod answer;
pub mod domains;
mod minute;
mod once;
mod program;
mod program_builder;
mod raw;
mod store;
mod visitor;

pub use account::{Account, body_with, redirect_body};
pub use answer::{Answer, DOCUMENT, rate_limits};
pub use domains::DomainScene;
pub use minute::{within_one_day, within_one_minute};
pub use once::{Once, assert_alike, assert_each_carried_out_once, assert_one_was_first};
pub use program::{Program, signpost};
pub use program_builder::ProgramBuilder;
pub use raw::{exchange, parse_response};
pub use store::{Store, migrate};
pub use visitor::{Visit, Visitor};

/// Runs the operation on many threads at the same moment, and returns the results in the order of their
/// numbers.
pub fn concurrently<T: Send>(threads: usize, operation: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = std::sync::Barrier::new(threads);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|number| {
                let (operation, barrier) = (&operation, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    operation(number)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}
