//! `cargo xtask fuzz-api`: tests the built program with Schemathesis, which generates requests from the OpenAPI document
//! and checks every answer against it (R17).
//!
//! It is not part of the tests: it needs Python, takes minutes, and generates other requests for each seed.

use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use signpost_test_servers::dns::NameServer;

mod log;
mod schemathesis;

use schemathesis::Schemathesis;

use crate::program::{self, Profile, Program};

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Maximum number of requests for one operation in each random phase. The default makes more than 20,000 requests and
    /// takes about six minutes on two cores.
    #[arg(long, value_name = "N", default_value_t = 1_200, value_parser = clap::value_parser!(u32).range(1..))]
    max_examples: u32,
    /// Seed of a run to repeat; by default a new one is chosen and printed.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Arguments for `schemathesis run`: `cargo xtask fuzz-api -- --include-path /v1/groups`.
    #[arg(last = true)]
    schemathesis_arguments: Vec<OsString>,
}

/// Builds and starts the program of the workspace at `root`, runs Schemathesis on it, and stops it.
///
/// The run fails if Schemathesis finds a failure. It also fails if the program's log has a panic or an answer
/// with a status of 500 or more. It then keeps the folder with the log and prints its path.
///
/// If this process ends early, by Ctrl-C or otherwise, the program stops too, but its folder stays.
///
/// # Errors
/// If Schemathesis is not installed, or the program does not build, start or stop correctly.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    // Fail before the build, which takes minutes.
    let schemathesis = Schemathesis::find()?;
    // The debug build has more checks and exists from the tests. Schemathesis needs most of the time anyway.
    let executable = program::build(root, Profile::Debug)?;
    let folder =
        tempfile::Builder::new().prefix("signpost-fuzz-").tempdir().context("no temporary folder")?;
    let code = fuzz(&schemathesis, &executable, folder.path(), options);
    if !matches!(code, Ok(0)) {
        writeln!(io::stdout(), "kept: {}", folder.keep().display())?;
    }
    Ok(ExitCode::from(code?))
}

/// Runs Schemathesis on the program in `folder`. Returns 0 if neither Schemathesis nor the log has findings.
fn fuzz(schemathesis: &Schemathesis, executable: &Path, folder: &Path, options: &Options) -> Result<u8> {
    let Options { max_examples, seed, schemathesis_arguments } = options;
    let seed = seed.unwrap_or_else(random_seed);
    let mut output = io::stdout().lock();
    writeln!(output, "seed {seed}: repeat this run with `--seed {seed} --max-examples {max_examples}`")?;
    writeln!(output, "log of the program: {}", folder.join(program::LOG).display())?;

    // A name server without names, so that requests about domains get the same answers on every machine.
    let dns = NameServer::start();
    let dns_address = dns.address().to_string();
    let program = Program::start_with(executable, folder, &["--dns-servers", &dns_address])?;
    let verdict = schemathesis.run(folder, &program, seed, *max_examples, schemathesis_arguments);
    let stopped = program.stop();
    let log = fs::read_to_string(folder.join(program::LOG)).context("no log")?;
    let findings = log::findings(&log);
    for finding in findings.iter().take(MAX_SHOWN) {
        writeln!(output, "in the log: {finding}")?;
    }
    writeln!(output, "{} lines of the log show a panic, an error or a 5xx", findings.len())?;
    stopped?;
    let verdict = verdict?;
    Ok(if findings.is_empty() { verdict } else { verdict.max(1) })
}

/// The maximum number of printed log lines; the log has all.
const MAX_SHOWN: usize = 20;

/// A random seed. The standard library seeds its hashers at random.
fn random_seed() -> u32 {
    let random = RandomState::new().hash_one(0).to_le_bytes();
    let [a, b, c, d, ..] = random;
    u32::from_le_bytes([a, b, c, d])
}
