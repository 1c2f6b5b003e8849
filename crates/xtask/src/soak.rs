//! `cargo xtask soak`: the fault tests at full length, every screen in every size and theme, time limits of certificates,
//! limits of visits under many visitors, and a tag of many links.
//!
//! The run prints measurements without judging them. A broken promise fails the run, as in every run of the tests.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

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
/// If a server is missing.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let Options { minutes, only } = options;
    if let Provision::Missing(line) = servers::provide().context("cannot tell of servers")? {
        bail!(line);
    }
    let mut soaks = vec![run_soak(root, *minutes, &["faults", "browser"], &[only])?];
    for (binary, test) in MORE.into_iter().filter(|(_, test)| test.contains(only.as_str())) {
        soaks.push(run_soak(root, *minutes, &[binary], &[test, "--exact"])?);
    }
    Ok(ExitCode::from(soaks.into_iter().max().unwrap_or(1)))
}

/// Runs tests of these binaries, and returns cargo's exit code.
fn run_soak(root: &Path, minutes: f64, binaries: &[&str], tests: &[&str]) -> Result<u8> {
    // Select the whole workspace, like every run of the tests. Cargo unifies features over the selected
    // packages, so another selection would compile half of the dependencies again.
    let status = cargo()
        .args(["test", "--workspace"])
        .args(binaries.iter().flat_map(|name| ["--test", name]))
        .arg("--")
        .args(tests)
        .args(["--nocapture", "--test-threads=1"])
        .env("SIGNPOST_SOAK", minutes.to_string())
        .env("SIGNPOST_REQUIRE_SERVERS", "1")
        .current_dir(root)
        .status()
        .context("cannot start `cargo test`")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1))
}
