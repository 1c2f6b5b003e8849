//! `cargo xtask unsteady`: finds tests that fail on a busy machine.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::job::{Job, JobResult};
use super::load::Load;
use super::rerun::keep;
use super::selection::{Selection, only_slow};
use super::{environment, lanes, scratch};
use crate::servers;

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// How often each test runs.
    #[arg(long, default_value_t = 5)]
    times: usize,
    #[command(flatten)]
    selection: Selection,
}

/// How often a test failed, and where its output is.
#[derive(Debug, Default)]
struct Failures {
    times: usize,
    files: Vec<PathBuf>,
}

/// Runs the selected tests, or all slow binaries, again and again while other threads load every core and the disk.
/// Lists the tests that failed at least once, and keeps the output of each failed run under `target/unsteady`.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let Options { times, selection } = options;
    let provision = servers::provide().context("cannot tell what is installed")?;
    let scratch = scratch::folder()?;
    let mut jobs = selection.jobs(root, &environment(&provision, scratch.as_ref()), &[])?;
    if selection.names_nothing() {
        jobs = only_slow(jobs);
    }
    if jobs.is_empty() {
        bail!("no test matches");
    }
    let folder = root.join("target/unsteady");
    std::fs::create_dir_all(&folder)?;
    let _load = Load::start(&folder)?;
    let mut all = BTreeMap::<String, Failures>::new();
    for round in 1..=*times {
        let results = lanes::run(&jobs, selection.lanes(), &|job, result| announce(round, job, result))?;
        for (job, result) in jobs.iter().zip(&results).filter(|(_, result)| !result.has_passed) {
            let file = keep(&folder, &format!("{} round {round}", job.name), &result.output)?;
            for name in failed_tests(job, result) {
                let failures = all.entry(name).or_default();
                failures.times += 1;
                failures.files.push(file.clone());
            }
        }
    }
    let mut output = io::stdout().lock();
    for (name, Failures { times: failed, files }) in &all {
        writeln!(output, "unsteady: {name} failed in {failed} of {times} rounds")?;
        for file in files {
            writeln!(output, "  {}", file.strip_prefix(root).unwrap_or(file).display())?;
        }
    }
    writeln!(output, "{} unsteady tests in {} binaries, {times} rounds", all.len(), jobs.len())?;
    Ok(if all.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The failed tests of a run, or the binary if it names none.
fn failed_tests(job: &Job, result: &JobResult) -> Vec<String> {
    if result.failed.is_empty() {
        return vec![job.name.clone()];
    }
    result.failed.iter().map(|test| format!("{}: {test}", job.name)).collect()
}

fn announce(round: usize, job: &Job, result: &JobResult) -> Result<()> {
    let failed = failed_tests(job, result).join(", ");
    let verdict = if result.has_passed { "passed".to_owned() } else { format!("FAILED: {failed}") };
    let seconds = result.took.as_secs_f64();
    writeln!(io::stdout(), "round {round}: {} ({seconds:.1} s): {verdict}", job.name)?;
    Ok(())
}
