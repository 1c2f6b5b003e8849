//! `cargo xtask soak`: the fault tests at full length, every screen in every size and theme, time limits of certificates,
//! limits of visits under many visitors, and a tag of many links.
//!
//! The run prints measurements without judging them. A broken promise fails the run, as in every run of the tests.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::servers::{self, Provision};
use crate::workspace::cargo;

/// Tests of other binaries that ask more of the product in a soak.
const MORE: [(&str, &str); 5] = [
    ("end_to_end", "nodes::certificates::d186_nodes_share_orders_and_each_serves_every_certificate"),
    ("end_to_end", "api::tags::d122_a_tag_of_many_links_is_renamed_merged_and_deleted_without_a_revision"),
    ("end_to_end", "edge::max_clicks::d130_concurrent_visitors_get_exactly_the_limit"),
    ("end_to_end", "nodes::max_clicks::d130_three_nodes_send_on_exactly_as_many_visits_as_the_limit"),
    ("end_to_end", "nodes::max_clicks::d130_a_killed_node_loses_at_most_the_clicks_that_it_holds"),
];

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
/// If a server is missing, or a test: libtest would run nothing after a test was renamed, and succeed.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let Options { minutes, only } = options;
    if let Provision::Missing(line) = servers::provide().context("cannot tell of servers")? {
        bail!(line);
    }
    let more = || MORE.into_iter().filter(|(_, test)| test.contains(only.as_str()));
    for (binary, test) in more() {
        let is_found = count_tests(root, &[binary], &[test, "--exact"])? > 0;
        ensure!(is_found, "{binary} has no test {test}; correct the list in crates/xtask/src/soak.rs");
    }
    let mut soaks = vec![];
    if count_tests(root, &["faults", "browser"], &[only])? > 0 {
        soaks.push(run_soak(root, *minutes, &["faults", "browser"], &[only])?);
    }
    for (binary, test) in more() {
        soaks.push(run_soak(root, *minutes, &[binary], &[test, "--exact"])?);
    }
    let worst = soaks.into_iter().max().with_context(|| format!("no name of a test contains {only}"))?;
    Ok(ExitCode::from(worst))
}

/// Selects tests of these binaries.
fn select(root: &Path, binaries: &[&str], tests: &[&str]) -> Command {
    let mut command = cargo();
    // Select the whole workspace, like every run of the tests. Cargo unifies features over the selected
    // packages, so another selection would compile half of the dependencies again.
    command
        .args(["test", "--workspace"])
        .args(binaries.iter().flat_map(|name| ["--test", name]))
        .arg("--")
        .args(tests)
        .current_dir(root);
    command
}

/// How many tests of these binaries there are.
fn count_tests(root: &Path, binaries: &[&str], tests: &[&str]) -> Result<usize> {
    let listed = select(root, binaries, tests)
        .args(["--list", "--format", "terse"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start `cargo test`")?;
    ensure!(listed.status.success(), "cannot list the tests: {}", listed.status);
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.ends_with(": test")).count())
}

/// Runs tests of these binaries, and returns cargo's exit code.
fn run_soak(root: &Path, minutes: f64, binaries: &[&str], tests: &[&str]) -> Result<u8> {
    let status = select(root, binaries, tests)
        .args(["--nocapture", "--test-threads=1"])
        .env("SIGNPOST_SOAK", minutes.to_string())
        .env("SIGNPOST_REQUIRE_SERVERS", "1")
        .status()
        .context("cannot start `cargo test`")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1))
}
