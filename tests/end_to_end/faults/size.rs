//! The size of the tests of failures: small for everyday runs, large for a soak.
//!
//! The variable `SIGNPOST_SOAK` is a number of minutes, which may be a fraction. With it every fault lasts at
//! least that long, counts are those of the requirement (`R…`), and each test prints its measurements on one
//! line.

use std::env;
use std::time::Duration;

/// The length of a fault that lasts `usually` in an everyday run.
pub fn length(usually: Duration) -> Duration {
    soak().map_or(usually, |length| length.max(usually))
}

/// `usually`, or `fully` in a soak.
pub fn count(usually: usize, fully: usize) -> usize {
    soak().map_or(usually, |_| fully)
}

/// How long an everyday run waits for an event. Only a failure waits so long.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// How long to wait for what the product promises within `limit`.
///
/// A soak has the machine to itself, so it holds the product to the limit. An everyday run shares two cores and a disk
/// with other tests, which may delay anything for longer than most limits. So it waits for at least a minute: a hang
/// still fails, and a busy machine does not.
pub fn within(limit: Duration) -> Duration {
    soak().map_or(limit.max(PATIENCE), |_| limit)
}

/// Prints a measurement in a soak.
pub fn report(requirement: &str, measured: &str) {
    if soak().is_some() {
        eprintln!("{requirement}: {measured}");
    }
}

/// How long a soak goes on; `None` in an everyday run.
pub fn soak() -> Option<Duration> {
    let minutes = env::var("SIGNPOST_SOAK").ok()?;
    let minutes: f64 = minutes.parse().expect("SIGNPOST_SOAK is a number of minutes");
    Some(Duration::from_secs_f64(minutes * 60.0))
}
