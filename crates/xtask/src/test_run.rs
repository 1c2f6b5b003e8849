//! `cargo xtask test`: the whole test suite in one command.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::servers::{self, Provision};
use crate::workspace::cargo;

/// With the value 1, tests fail if a server or the browser is missing.
const REQUIRE_SERVERS: &str = "SIGNPOST_REQUIRE_SERVERS";

/// Runs every test of the workspace at `root` and returns cargo's exit code. It first installs missing servers and the
/// browser, if that is allowed.
///
/// If one stays missing, the last line names it. Otherwise the output ends with that of `cargo test`, so that tools
/// can count the tests.
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
    // There is no exit code if a signal ended cargo.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Always selects the whole workspace: cargo unifies features over the selected packages, so another selection would
/// compile half of the dependencies again. A failure in one crate must not hide failures in the next.
fn arguments(extra: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let always = ["test", "--workspace", "--no-fail-fast"].into_iter().map(OsStr::new);
    always.chain(extra.iter().map(OsString::as_os_str))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::arguments;

    #[test]
    fn all_tests_run_by_default() {
        let extra = ["--test", "end_to_end", "--", "--nocapture"].map(OsString::from);
        let all: Vec<_> = arguments(&extra).collect();
        assert_eq!(
            all,
            ["test", "--workspace", "--no-fail-fast", "--test", "end_to_end", "--", "--nocapture"]
        );
        assert_eq!(arguments(&[]).count(), 3);
    }
}
