//! How large the tests of failures are: small enough for every run, or as large as a soak asks for.
//!
//! The variable `SIGNPOST_SOAK` is a number of minutes, which may be a fraction. With it every fault lasts that long, at
//! least, counts are those of the requirement (`R…`), and each test prints in one line what it measured.

use std::env;
use std::time::Duration;

/// For how long a fault lasts that lasts `usually` in an everyday run.
pub fn length(usually: Duration) -> Duration {
    soak().map_or(usually, |length| length.max(usually))
}

/// `usually`, or `fully` in a soak.
pub fn count(usually: usize, fully: usize) -> usize {
    soak().map_or(usually, |_| fully)
}

/// Prints what was measured, in a soak.
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
