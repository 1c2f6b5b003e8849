//! Tests about one calendar minute.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs the scenario, again if need be, until it began and ended within one calendar minute; whatever it said of two
/// minutes is not heard.
pub fn within_one_minute<T>(scenario: impl Fn() -> T) -> T {
    loop {
        let minute = current_minute();
        let outcome = catch_unwind(AssertUnwindSafe(&scenario));
        if minute == current_minute() {
            return outcome.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}

fn current_minute() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60
}
