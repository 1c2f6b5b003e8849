//! `cargo xtask bench`: times measured side by side in one run, told as ratios.
//!
//! Machines are noisy, so nothing here is asserted. What is compared takes turns, round by round, and each figure is the
//! median of its rounds, with the fastest and the slowest beside it.

mod api;
mod connection;
mod store;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;

use crate::program::{self, Profile, Program};
use api::Api;

/// How a benchmark is run.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// What is measured.
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Creating redirects singly, in batches of 2 and in batches of 100, on the embedded store.
    Bulk {
        /// How many rounds are run.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
        /// How many requests of each size a round has.
        #[arg(long, default_value_t = 20)]
        requests: u32,
    },
    /// The API on PostgreSQL and Redis against bare PostgreSQL and Redis: a table of ratios.
    Store(store::Options),
}

/// Runs a benchmark and prints what it found.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    match &options.what {
        What::Bulk { rounds, requests } => bulk(root, *rounds, *requests)?,
        What::Store(options) => store::run(root, options)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One of the things that take turns.
struct Contender {
    name: &'static str,
    path: &'static str,
    body: String,
    /// The mean time of a request in each round.
    rounds: Vec<Duration>,
}

fn bulk(root: &Path, rounds: usize, requests: u32) -> Result<()> {
    let executable = program::build(root, Profile::Release)?;
    let folder = tempfile::tempdir()?;
    let program = Program::start(&executable, folder.path())?;
    let mut api = Api::connect(&program)?;
    let link = json!({"name": "A link", "target_url": "https://example.com/somewhere?utm_source=mail"});
    let batch = |items: usize| json!({"redirects": vec![&link; items]}).to_string();
    let contender = |name, path, body| Contender { name, path, body, rounds: vec![] };
    let mut contenders = [
        contender("a single creation", "/v1/redirects", link.to_string()),
        contender("a batch of 2", "/v1/redirects/bulk", batch(2)),
        contender("a batch of 100", "/v1/redirects/bulk", batch(100)),
    ];
    // The first round warms everything up and does not count.
    for round in 0..=rounds {
        for contender in &mut contenders {
            let began = Instant::now();
            for _ in 0..requests {
                api.post(contender.path, &contender.body)?;
            }
            if round > 0 {
                contender.rounds.push(began.elapsed() / requests);
            }
        }
    }
    drop(program);
    print(&mut contenders)
}

fn print(contenders: &mut [Contender]) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(
        output,
        "{:<20}{:>12}{:>12}{:>12}{:>18}",
        "", "median", "fastest", "slowest", "to a batch of 2"
    )?;
    for contender in &mut *contenders {
        contender.rounds.sort_unstable();
    }
    let median = |contender: &Contender| {
        contender.rounds.get(contender.rounds.len() / 2).copied().context("there was no round")
    };
    let reference = contenders.iter().find(|contender| contender.name == "a batch of 2");
    let reference = median(reference.context("nothing to compare with")?)?;
    for contender in &*contenders {
        let (Some(fastest), Some(slowest)) = (contender.rounds.first(), contender.rounds.last()) else {
            continue;
        };
        let median = median(contender)?;
        let ratio = median.as_secs_f64() / reference.as_secs_f64();
        let shown = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        writeln!(
            output,
            "{:<20}{:>12}{:>12}{:>12}{:>18.2}",
            contender.name,
            shown(median),
            shown(*fastest),
            shown(*slowest),
            ratio
        )?;
    }
    Ok(())
}
