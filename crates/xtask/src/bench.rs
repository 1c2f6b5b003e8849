//! `cargo xtask bench`: builds the benchmarks and runs them.
//!
//! They are a package of their own, so that tests and the other commands do not wait for its build.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::program::{self, Profile};

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The benchmark and its options; see `cargo xtask bench help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs the program of `crates/benchmarks` with these arguments, and returns its exit code.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let Options { arguments } = options;
    // It generates the load on the machine that is measured, so it must be fast.
    let is_smoke = arguments.first().is_some_and(|benchmark| benchmark == "smoke");
    let profile = if is_smoke { Profile::Debug } else { Profile::Release };
    let benchmarks = program::build_package(root, "signpost-benchmarks", profile)?;
    let status = Command::new(benchmarks).args(arguments).status().context("cannot start the benchmarks")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
