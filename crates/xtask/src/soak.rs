//! `cargo xtask soak`: the fault tests at full length, and every screen in every size and theme.
//!
//! The run prints measurements without judging them. A broken promise fails the run, as in every run of the tests.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::servers::{self, Provision};
use crate::workspace::cargo;

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Minutes that each fault lasts; may be a fraction.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Run only tests whose names contain this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Runs the tests one after the other, because each needs the whole machine, and returns cargo's exit code.
///
/// # Errors
/// If a server is missing.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let Options { minutes, only } = options;
    if let Provision::Missing(line) = servers::provide().context("cannot tell of servers")? {
        bail!(line);
    }
    // Select the whole workspace, like every run of the tests. Cargo unifies features over the selected
    // packages, so another selection would compile half of the dependencies again.
    let status = cargo()
        .args([
            "test",
            "--workspace",
            "--test",
            "faults",
            "--test",
            "browser",
            "--",
            only,
            "--nocapture",
            "--test-threads=1",
        ])
        .env("SIGNPOST_SOAK", minutes.to_string())
        .env("SIGNPOST_REQUIRE_SERVERS", "1")
        .current_dir(root)
        .status()
        .context("cannot start `cargo test`")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
