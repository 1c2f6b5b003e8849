//! Which runs there are: each seed makes other visits and asks other questions.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// Names the seeds in place of the usual ones: one (`17`), or a range (`1-100`).
const VARIABLE: &str = "SIGNPOST_EXACTNESS_SEEDS";

/// Those that are named; else two that every run has, and one at random.
pub(crate) fn seeds() -> Vec<u64> {
    match std::env::var(VARIABLE) {
        Ok(named) => parse(&named),
        Err(_) => vec![1, 2, RandomState::new().build_hasher().finish() % 1_000_000],
    }
}

/// Says how a run is repeated. It is shown if the run fails.
pub(crate) fn announce(seed: u64) {
    println!("seed {seed}: repeat it with {VARIABLE}={seed}");
}

fn parse(named: &str) -> Vec<u64> {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{VARIABLE} is no seed: {named}"));
    let (first, last) = named.split_once('-').unwrap_or((named, named));
    (number(first)..=number(last)).collect()
}

#[test]
fn seeds_are_named_one_by_one_or_by_a_range() {
    assert_eq!(parse("17"), [17]);
    assert_eq!(parse("1-3"), [1, 2, 3]);
}
