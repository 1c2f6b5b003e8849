//! Seeds, and the random choices that follow from them. Each seed makes other visits and asks other questions.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// The variable with other seeds: one (`17`), or a range (`1-100`).
const VARIABLE: &str = "SIGNPOST_EXACTNESS_SEEDS";

/// The seeds of the variable; by default two fixed ones and a random one.
pub(crate) fn seeds() -> Vec<u64> {
    match std::env::var(VARIABLE) {
        Ok(named) => parse(&named),
        Err(_) => vec![1, 2, RandomState::new().build_hasher().finish() % 1_000_000],
    }
}

/// Prints how to repeat a run, which the test harness shows if the run fails.
pub(crate) fn announce(seed: u64) {
    println!("seed {seed}: repeat it with {VARIABLE}={seed}");
}

fn parse(named: &str) -> Vec<u64> {
    let number = |text: &str| {
        text.parse().unwrap_or_else(|_| panic!("{VARIABLE} is neither a seed nor a range: {named}"))
    };
    let (first, last) = named.split_once('-').unwrap_or((named, named));
    (number(first)..=number(last)).collect()
}

/// A small generator (splitmix64) that makes the same choices in every run with the same seed.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % u64::try_from(high - low + 1).unwrap()).unwrap()
    }

    /// True in one of `cases` cases.
    pub(crate) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    /// One of the items.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

#[test]
fn the_variable_has_one_seed_or_a_range() {
    assert_eq!(parse("17"), [17]);
    assert_eq!(parse("1-3"), [1, 2, 3]);
}
