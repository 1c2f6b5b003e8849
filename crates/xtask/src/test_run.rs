//! `cargo xtask test`: the whole test suite in one command.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::servers::{self, Provision};
use crate::workspace::cargo;

/// Fails the tests that find no server or no browser, where it is 1.
const REQUIRE_SERVERS: &str = "SIGNPOST_REQUIRE_SERVERS";

/// Runs every test of the workspace at `root` and answers with cargo's own exit code. What the tests want is
/// installed before, where it is missing and that is allowed.
///
/// Where it stays missing the last line says so. Otherwise the last lines are those of `cargo test`, for whoever counts
/// them.
pub fn run(root: &Path, extra: &[OsString]) -> Result<ExitCode> {
    let provision = servers::provide().context("cannot tell what is installed")?;
    let mut command = cargo();
    if provision == Provision::Installed && env::var_os(REQUIRE_SERVERS).is_none() {
        command.env(REQUIRE_SERVERS, "1");
    }
    let status =
        command.args(arguments(extra)).current_dir(root).status().context("cannot start `cargo test`")?;
    if let Provision::Missing(line) = &provision {
        servers::say(line)?;
    }
    // A cargo that a signal ended has no code.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Always the whole workspace: cargo unifies features over what is selected, so that a selection would compile half
/// of the dependencies a second time. A failure in one crate must not hide those of the next.
fn arguments(extra: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let always = ["test", "--workspace", "--no-fail-fast"].into_iter().map(OsStr::new);
    always.chain(extra.iter().map(OsString::as_os_str))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::arguments;

    #[test]
    fn everything_runs_unless_cargo_is_told_otherwise() {
        let extra = ["--test", "end_to_end", "--", "--nocapture"].map(OsString::from);
        let all: Vec<_> = arguments(&extra).collect();
        assert_eq!(
            all,
            ["test", "--workspace", "--no-fail-fast", "--test", "end_to_end", "--", "--nocapture"]
        );
        assert_eq!(arguments(&[]).count(), 3);
    }
}
