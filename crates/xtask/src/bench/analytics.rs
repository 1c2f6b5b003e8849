//! `cargo xtask bench analytics`: how clicks are stored and counted, against PostgreSQL with a row for each click.
//!
//! The measuring itself is a program of its own, `crates/click-benchmark`, since it drives both stores from inside.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::program::{self, Profile};

/// How it is measured.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// How many clicks the hot link has in its year.
    #[arg(long, default_value_t = 10_000_000)]
    hot: u64,
    /// How many clicks an account has in its month, over a hundred thousand links.
    #[arg(long, default_value_t = 5_000_000)]
    tail: u64,
    /// How many times each question is asked.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// For how many seconds clicks are drained.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    #[arg(skip)]
    is_smallest: bool,
}

impl Options {
    /// The least that runs every case.
    pub(super) const fn smallest() -> Self {
        Self { hot: 20_000, tail: 10_000, rounds: 1, seconds: 1, is_smallest: true }
    }
}

/// Measures, and prints what was found.
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
