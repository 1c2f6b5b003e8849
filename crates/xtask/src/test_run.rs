//! `cargo xtask test`: the whole test suite in one command.
//!
//! Cargo builds the test binaries. They then run side by side in lanes, the slow ones first, so that the machine is busy
//! while a test waits. A test that fails runs once more, alone: if it passes then, the run passes and names the test as
//! unsteady.

mod binaries;
mod job;
mod lanes;
mod libtest;
mod load;
mod rerun;
mod scratch;
mod selection;
mod unsteady;

use std::env;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use signpost_test_servers::oidc_provider::FOLDER_VARIABLE;
use tempfile::TempDir;

use crate::oidc_provider;
use crate::servers::{self, Provision};
use job::{Job, JobResult};
use rerun::Verdict;
use selection::Selection;
pub use unsteady::{Options as UnsteadyOptions, run as find_unsteady};

/// With the value 1, tests fail if a server or the browser is missing.
const REQUIRE_SERVERS: &str = "SIGNPOST_REQUIRE_SERVERS";

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    selection: Selection,
    /// Arguments for every test binary: `cargo xtask test --test end_to_end api::groups -- --nocapture`.
    #[arg(last = true)]
    libtest: Vec<String>,
}

/// Runs the selected tests of the workspace at `root`. It first installs missing servers and the browser, if that is
/// allowed.
///
/// The last line counts the tests. The lines before it name missing servers, unsteady tests and tests that failed twice.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let provision = servers::provide().context("cannot tell what is installed")?;
    let oidc_provider = oidc_provider::provide(root)?;
    let Options { selection, libtest } = options;
    let scratch = scratch::folder()?;
    let mut variables = environment(&provision, scratch.as_ref());
    if let Ok(packages) = &oidc_provider {
        variables.push((FOLDER_VARIABLE.to_owned(), packages.to_string_lossy().into_owned()));
    }
    let jobs = selection.jobs(root, &variables, libtest)?;
    if jobs.is_empty() {
        bail!("no test matches");
    }
    let results = lanes::run(&jobs, selection.lanes(), &announce)?;
    let verdict = rerun::judge(root, &jobs, &results, &mut io::stdout())?;
    let code = if verdict.has_failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    let missing = match provision {
        Provision::There => None,
        Provision::Missing(line) => Some(line),
    };
    report(missing.into_iter().chain(oidc_provider.err()), &verdict, &results)?;
    Ok(code)
}

/// The variables of every test binary.
fn environment(provision: &Provision, scratch: Option<&TempDir>) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    // An installed server that does not start must not make its tests pass.
    if *provision == Provision::There && env::var_os(REQUIRE_SERVERS).is_none() {
        variables.push((REQUIRE_SERVERS.to_owned(), "1".to_owned()));
    }
    if let Some(scratch) = scratch {
        variables.push(("TMPDIR".to_owned(), scratch.path().to_string_lossy().into_owned()));
    }
    variables
}

/// Prints the output of a finished job, unless it was shown while it ran.
fn announce(job: &Job, result: &JobResult) -> Result<()> {
    let mut output = io::stdout().lock();
    let seconds = result.took.as_secs_f64();
    if job.is_live {
        writeln!(output, "   Finished {} in {seconds:.1} s", job.name)?;
    } else {
        writeln!(output, "    Running {} ({seconds:.1} s)\n{}", job.name, result.output.trim_end())?;
    }
    Ok(())
}

fn report(missing: impl Iterator<Item = String>, verdict: &Verdict, results: &[JobResult]) -> Result<()> {
    let mut output = io::stdout().lock();
    for line in missing {
        writeln!(output, "{line}")?;
    }
    for line in verdict.lines() {
        writeln!(output, "{line}")?;
    }
    let (passed, failed) = results.iter().fold((0, 0), |(passed, failed), result| {
        (passed + result.counts.passed, failed + result.counts.failed)
    });
    // A test that passed when it ran again has passed.
    let again = verdict.unsteady();
    writeln!(output, "tests: {} passed, {} failed", passed + again, failed.saturating_sub(again))?;
    Ok(())
}
