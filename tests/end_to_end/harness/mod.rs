//! Starts programs for tests, with clients for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

mod account;
mod answer;
mod authenticator;
mod browser;
pub mod domains;
mod earlier_clicks;
pub mod https;
mod log;
mod minute;
mod once;
mod program;
mod program_builder;
mod raw;
mod shell;
mod store;
mod switch;
mod visitor;

pub use account::{Account, body_with, redirect_body};
pub use answer::{Answer, DOCUMENT, rate_limits};
pub use authenticator::Authenticator;
pub use browser::{PASSWORD, Page, Person};
pub use domains::DomainScene;
pub use earlier_clicks::{EarlierVisits, store_visits};
pub use minute::{within_one_day, within_one_minute};
pub use once::{Once, assert_alike, assert_each_carried_out_once, assert_one_was_first};
pub use program::{Program, signpost};
pub use program_builder::{ON_FREE_PORTS, ProgramBuilder};
pub use raw::{exchange, parse_response};
pub use store::{Store, migrate};
pub use switch::{LEADS, instant, now_millis, visits_before};
pub use visitor::{BROWSER, OPENING, Visit, Visitor};

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

/// Whether this is a run of `cargo xtask soak`, which has the machine to itself.
pub fn is_soak() -> bool {
    std::env::var_os("SIGNPOST_SOAK").is_some()
}

/// Sets the flag when it is dropped, also by a failed assertion. Threads that run until the flag is set then end, so that
/// the scope that waits for them ends too.
pub struct SetWhenDropped<'a>(pub &'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Kills the program while clients of its first account work, once they have noted `enough` results. Each client
/// works until it gets no answer. Returns the results.
///
/// The program must be alone on its store. PostgreSQL may carry out the last statements of a killed client a moment later,
/// so this waits until it has.
pub fn kill_at_work<T: Send>(
    program: &mut Program,
    clients: usize,
    enough: usize,
    work: impl Fn(usize, &Account, &dyn Fn(T)) + Sync,
) -> Vec<T> {
    let results = Mutex::new(Vec::new());
    let note = |result: T| results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    let is_enough = || results.lock().unwrap_or_else(PoisonError::into_inner).len() >= enough;
    let account = program.first_account();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..clients)
            .map(|client| {
                let (account, note, work) = (account.clone(), &note, &work);
                scope.spawn(move || work(client, &account, note))
            })
            .collect();
        // The moment of the crash is one of work.
        while !is_enough() && clients.iter().all(|client| !client.is_finished()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_enough = is_enough();
        program.kill();
        assert!(is_enough, "a client was not answered although nothing had crashed");
    });
    if let Some(database) = program.database() {
        database.await_end_of_clients();
    }
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}
