//! `cargo xtask bench`: times measured side by side in one run, told as ratios.
//!
//! Machines are noisy, so nothing here is asserted. What is compared takes turns, round by round, and each figure is the
//! median of its rounds, with the fastest and the slowest beside it.

mod analytics;
mod api;
mod commands;
mod connection;
mod edge;
mod figure;
mod hostile;
mod import;
mod keeper;
mod pgbench;
mod postgres;
mod random;
mod store;
mod turns;
mod until;
mod visits;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::program::{self, Profile, Program};
use crate::servers;
use api::Api;
use turns::Turns;

/// How a benchmark is run.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// What is measured.
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Storing and counting clicks on both stores, against PostgreSQL with a row for each click: a table of ratios.
    Analytics(analytics::Options),
    /// Creating redirects singly, in batches of 2 and in batches of 100, on the embedded store.
    Bulk {
        /// How many rounds are run.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
        /// How many requests of each size a round has.
        #[arg(long, default_value_t = 20)]
        requests: u32,
    },
    /// Visits of links: on the system domain, on a custom domain, and with targets that may be an address of ours; on the
    /// embedded store.
    Visits {
        /// How many rounds are run.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
        /// How many visits of each kind a round has.
        #[arg(long, default_value_t = 1_000)]
        requests: u32,
    },
    /// Hostile clients against all listeners: their cost in memory, and the time of honest requests meanwhile.
    Hostile(hostile::Options),
    /// Importing redirects from a file on both stores, against the bare statement.
    Import(import::Options),
    /// What visitors meet, against a bare actix-web program and nginx: a table of ratios.
    Edge(edge::Options),
    /// All of the others on the debug build, each as small as it can be: whether they still run, not what they measure.
    Smoke,
    /// The API on PostgreSQL and Redis against bare PostgreSQL and Redis: a table of ratios.
    Store(store::Options),
}

/// Runs a benchmark and prints what it found.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    match &options.what {
        What::Bulk { rounds, requests } => bulk(&release(root)?, Turns::new(*rounds, *requests))?,
        What::Visits { rounds, requests } => visits::run(&release(root)?, Turns::new(*rounds, *requests))?,
        What::Smoke => smoke(root)?,
        What::Hostile(options) => hostile::run(root, options)?,
        What::Edge(options) => edge::run(root, options)?,
        What::Import(options) => import::run(root, options)?,
        What::Analytics(options) => analytics::run(root, options)?,
        What::Store(options) => store::run(root, options)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn release(root: &Path) -> Result<PathBuf> {
    program::build(root, Profile::Release)
}

/// Runs every benchmark on the program that the tests use.
fn smoke(root: &Path) -> Result<()> {
    let executable = program::build(root, Profile::Debug)?;
    bulk(&executable, Turns::new(1, 1))?;
    visits::run(&executable, Turns::new(1, 1))?;
    hostile::run(root, &hostile::Options::smallest(executable.clone()))?;
    edge::run(root, &edge::Options::smallest(executable.clone()))?;
    import::run(root, &import::Options::smallest(executable.clone()))?;
    if servers::are_installed() {
        store::run(root, &store::Options::smallest(executable))?;
        analytics::run(root, &analytics::Options::smallest())?;
    } else {
        writeln!(
            io::stderr(),
            "bench store and bench analytics did NOT run: PostgreSQL or Redis is not installed"
        )?;
    }
    Ok(())
}

fn bulk(executable: &Path, turns: Turns) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(executable, folder.path())?;
    let mut api = Api::connect(&program)?;
    let link = json!({"name": "A link", "target_url": "https://example.com/somewhere?utm_source=mail"});
    let batch = |items: usize| json!({"redirects": vec![&link; items]}).to_string();
    let bodies = [
        ("/v1/redirects", link.to_string()),
        ("/v1/redirects/bulk", batch(2)),
        ("/v1/redirects/bulk", batch(100)),
    ];
    let names = ["a single creation", "a batch of 2", "a batch of 100"];
    let figures = turns.take(names.into_iter().zip(bodies), |(path, body)| api.post(path, body).map(drop))?;
    drop(program);
    turns::print(&figures, "a batch of 2")
}
