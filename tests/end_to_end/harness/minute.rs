//! Tests about one calendar minute, or one day.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs the scenario, again if need be, until it began and ended within one calendar minute; whatever it said of two
/// minutes is not heard.
pub fn within_one_minute<T>(scenario: impl Fn() -> T) -> T {
    within_one(60, scenario)
}

/// Like [`within_one_minute`], for a day in UTC.
pub fn within_one_day<T>(scenario: impl Fn() -> T) -> T {
    within_one(86_400, scenario)
}

fn within_one<T>(seconds: u64, scenario: impl Fn() -> T) -> T {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / seconds;
    loop {
        let begin = now();
        let outcome = catch_unwind(AssertUnwindSafe(&scenario));
        if begin == now() {
            return outcome.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}
