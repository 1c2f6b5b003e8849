//! `cargo xtask bench analytics`: storing and counting clicks, compared with one row for each click in PostgreSQL.
//!
//! It runs a separate program, `crates/click-benchmark`, which calls both stores directly.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use signpost_xtask::program::{self, Profile};

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Clicks of the hot link in its year.
    #[arg(long, default_value_t = 10_000_000)]
    hot: u64,
    /// Clicks of an account in its month, on a hundred thousand links.
    #[arg(long, default_value_t = 5_000_000)]
    tail: u64,
    /// Repetitions of each query.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds for which clicks are drained; 0 for the minimum of clicks.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    #[arg(skip)]
    is_smallest: bool,
}

impl Options {
    /// The smallest run of every case.
    pub(super) const fn smallest() -> Self {
        Self { hot: 4_000, tail: 4_000, rounds: 1, seconds: 0, is_smallest: true }
    }
}

/// Runs the benchmark, and prints its results.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { hot, tail, rounds, seconds, is_smallest } = options;
    let profile = if *is_smallest { Profile::Debug } else { Profile::Release };
    let program = program::build_package(root, "signpost-click-benchmark", profile)?;
    let words =
        [("--hot", *hot), ("--tail", *tail), ("--rounds", u64::try_from(*rounds)?), ("--seconds", *seconds)];
    let words = words.into_iter().flat_map(|(name, value)| [name.to_owned(), value.to_string()]);
    ensure!(Command::new(program).args(words).status()?.success(), "the benchmark failed");
    Ok(())
}
