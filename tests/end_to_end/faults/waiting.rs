//! Waits for events, each time with a bound, so that a hang fails the test instead of stopping the run.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::Account;
use crate::size::{PATIENCE, report, within};

/// The pause between two looks. A loop without one would take a core from the program under test.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until an event has happened. Nothing promises how soon, so only a hang fails.
#[track_caller]
pub fn await_event(what: &str, mut has_happened: impl FnMut() -> bool) {
    poll(what, PATIENCE, || if has_happened() { Ok(()) } else { Err(String::new()) });
}

/// Waits until the count is at least this number.
#[track_caller]
pub fn await_count(what: &str, least: u64, mut count: impl FnMut() -> u64) {
    poll(what, PATIENCE, || {
        let found = count();
        if found >= least { Ok(()) } else { Err(format!(": {found} of {least}")) }
    });
}

/// Waits until an event has happened that the product promises within `limit`, which only a soak asserts. Returns how
/// long it took, and prints that in a soak.
#[track_caller]
pub fn await_promised(
    requirement: &str,
    limit: Duration,
    mut has_happened: impl FnMut() -> bool,
) -> Duration {
    let happened = || if has_happened() { Ok(()) } else { Err(String::new()) };
    let took = poll(requirement, within(limit), happened);
    report(requirement, &format!("after {took:.2?}"));
    took
}

/// Looks until it finds the event. Until then a look returns what it found instead, for the message of a failure.
#[track_caller]
fn poll(what: &str, patience: Duration, mut look: impl FnMut() -> Result<(), String>) -> Duration {
    let since = Instant::now();
    while let Err(found) = look() {
        assert!(since.elapsed() < patience, "not within {patience:?}: {what}{found}");
        std::thread::sleep(PAUSE);
    }
    since.elapsed()
}

/// Creates a resource for a test whose time limit of the store is short. A busy machine may exceed that limit, so the
/// request is repeated. The key, which must be unique in the account, makes it happen once (D12).
#[track_caller]
pub fn create(account: &Account, key: &str, path: &str, body: &Value) -> Value {
    let mut created = Value::Null;
    await_event(&format!("POST {path} with {key} succeeds"), || {
        let answer = account.post_once(key, path, body);
        assert!(matches!(answer.status, 201 | 500 | 503), "{answer:?}");
        let is_created = answer.status == 201;
        created = answer.body;
        is_created
    });
    created
}
