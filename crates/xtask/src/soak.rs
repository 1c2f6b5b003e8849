//! `cargo xtask soak`: the tests of failures at full size.
//!
//! What they measure is printed and not judged; a promise that is broken fails, here as in every other run.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::servers::{self, Provision};
use crate::workspace::cargo;

/// How long it is.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// How many minutes each fault lasts; it may be a fraction.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Only the tests whose names contain this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Runs the tests one after the other, for each wants the machine for itself, and answers with cargo's own exit code.
///
/// # Errors
/// A server is missing: then there is nothing to be told.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let Options { minutes, only } = options;
    if let Provision::Missing(line) = servers::provide().context("cannot tell of servers")? {
        bail!(line);
    }
    // Cargo unifies features over what is selected: the whole workspace, as in every other run of the tests, or else half
    // of the dependencies are compiled a second time.
    let status = cargo()
        .args(["test", "--workspace", "--test", "faults", "--", only, "--nocapture", "--test-threads=1"])
        .env("SIGNPOST_SOAK", minutes.to_string())
        .env("SIGNPOST_REQUIRE_SERVERS", "1")
        .current_dir(root)
        .status()
        .context("cannot start `cargo test`")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
