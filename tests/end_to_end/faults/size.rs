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

/// Prints a measurement in a soak.
pub fn report(requirement: &str, measured: &str) {
    if soak().is_some() {
        eprintln!("{requirement}: {measured}");
    }
}

fn soak() -> Option<Duration> {
    let minutes = env::var("SIGNPOST_SOAK").ok()?;
    let minutes: f64 = minutes.parse().expect("SIGNPOST_SOAK is a number of minutes");
    Some(Duration::from_secs_f64(minutes * 60.0))
}
