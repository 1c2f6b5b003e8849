//! `cargo xtask fuzz-api`: the built program against Schemathesis, which makes up requests from the OpenAPI document
//! and judges every answer by it (R17).
//!
//! It is no part of the tests: it needs Python, takes minutes and draws new requests with each seed.

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

/// How to fuzz.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The most requests that are made up for one operation in each phase that draws at random. The default makes more
    /// than 20,000 requests and takes some six minutes on two cores.
    #[arg(long, value_name = "N", default_value_t = 1_200, value_parser = clap::value_parser!(u32).range(1..))]
    max_examples: u32,
    /// The seed of a run that is to be repeated; a new one is drawn and printed if none is given.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Handed to `schemathesis run` as they stand: `cargo xtask fuzz-api -- --include-path /v1/groups`.
    #[arg(last = true)]
    schemathesis_arguments: Vec<OsString>,
}

/// Builds and starts the program of the workspace at `root`, lets Schemathesis loose on it, and stops it.
///
/// The answer is a failure if Schemathesis found something, and also if the program's log tells of a panic or of an
/// answer with a status of 500 or more. The folder with the log is kept then, and its path printed.
///
/// If this process is ended before that, by Ctrl-C or otherwise, the program stops too; its folder stays.
///
/// # Errors
/// Schemathesis is not installed, or the program does not build, start, or stop as it should.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    // Before anything takes minutes.
    let schemathesis = Schemathesis::find()?;
    // The debug build finds more, the tests have it built already, and the time of a run is Schemathesis' own.
    let executable = program::build(root, Profile::Debug)?;
    let folder =
        tempfile::Builder::new().prefix("signpost-fuzz-").tempdir().context("no temporary folder")?;
    let code = fuzz(&schemathesis, &executable, folder.path(), options);
    if !matches!(code, Ok(0)) {
        writeln!(io::stdout(), "kept: {}", folder.keep().display())?;
    }
    Ok(ExitCode::from(code?))
}

/// Runs Schemathesis on the program in `folder`. The answer is 0 if neither it nor the log found anything.
fn fuzz(schemathesis: &Schemathesis, executable: &Path, folder: &Path, options: &Options) -> Result<u8> {
    let Options { max_examples, seed, schemathesis_arguments } = options;
    let seed = seed.unwrap_or_else(drawn_seed);
    let mut output = io::stdout().lock();
    writeln!(output, "seed {seed}: repeat this run with `--seed {seed} --max-examples {max_examples}`")?;
    writeln!(output, "what the program logs: {}", folder.join(program::LOG).display())?;

    // It knows no name, so that what is asked about domains is answered, and the same on every machine.
    let dns = NameServer::start();
    let dns_address = dns.address().to_string();
    let program = Program::start_with(executable, folder, &["--dns-servers", &dns_address])?;
    let verdict = schemathesis.run(folder, &program, seed, *max_examples, schemathesis_arguments);
    let stopped = program.stop();
    let log = fs::read_to_string(folder.join(program::LOG)).context("no log")?;
    let findings = log::findings(&log);
    for finding in findings.iter().take(MOST_SHOWN) {
        writeln!(output, "in the log: {finding}")?;
    }
    writeln!(output, "{} lines of the log tell of a panic, an error or a 5xx", findings.len())?;
    stopped?;
    let verdict = verdict?;
    Ok(if findings.is_empty() { verdict } else { verdict.max(1) })
}

/// How many lines of the log are shown; all of them are in the log.
const MOST_SHOWN: usize = 20;

/// A seed that nobody chose. The standard library seeds its hashers at random.
fn drawn_seed() -> u32 {
    let random = RandomState::new().hash_one(0).to_le_bytes();
    let [a, b, c, d, ..] = random;
    u32::from_le_bytes([a, b, c, d])
}
