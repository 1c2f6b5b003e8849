//! `cargo xtask bench`: times measured side by side in one run, reported as ratios.
//!
//! Machines are noisy, so the benchmarks assert nothing. The compared programs take turns, round by round. Each figure is
//! the median of its rounds, with the fastest and the slowest round.

mod analytics;
mod commands;
mod connection;
mod dashboard;
mod edge;
mod figure;
mod floods;
mod hostile;
mod import;
mod instructions;
mod keeper;
mod latency;
mod link_features;
mod matching;
mod passwords;
mod pgbench;
mod postgres;
mod random;
mod store;
mod tls_client;
mod turns;
mod visits;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use clap::Parser;
use serde_json::json;
use signpost_xtask::program::{self, Profile, Program};
use signpost_xtask::repository::Repository;
use signpost_xtask::servers;

use connection::Api;
use turns::Turns;

/// Measures the built program, each figure as a ratio to a reference in the same run.
#[derive(Debug, Parser)]
#[command(name = "bench", bin_name = "cargo xtask bench")]
struct Arguments {
    /// The benchmark.
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Storing and counting clicks in both stores, compared with one row for each click in PostgreSQL: a table of ratios.
    Analytics(analytics::Options),
    /// Creating single redirects, batches of 2 and batches of 100 on the embedded store.
    Bulk {
        /// How many rounds are run.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
        /// How many requests of each size a round has.
        #[arg(long, default_value_t = 20)]
        requests: u32,
    },
    /// Pages of the dashboard on the embedded store, compared with a list of redirects in the API, and that list while many
    /// people sign in.
    Dashboard(dashboard::Options),
    /// Visits of links on the embedded store: on the system domain, on a custom domain, and with targets that may be an
    /// address of ours.
    Visits {
        /// How many rounds are run.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
        /// How many visits of each kind a round has.
        #[arg(long, default_value_t = 1_000)]
        requests: u32,
    },
    /// Instructions that a visit of each kind of link takes, counted by callgrind: ratios to a plain link, and to an earlier
    /// program.
    Instructions(instructions::Options),
    /// One change to all links of a large account, counted dry and done, and the time of another account meanwhile.
    Matching(matching::Options),
    /// Visits and a sign-in, while strangers try passwords of links.
    Passwords(passwords::Options),
    /// Hostile clients against all listeners: their memory cost, and the time of honest requests meanwhile.
    Hostile(hostile::Options),
    /// Importing redirects from a file into both stores, compared with the bare statement.
    Import(import::Options),
    /// Serving visitors, compared with a bare actix-web program and nginx: a table of ratios.
    Edge(edge::Options),
    /// All other benchmarks but `instructions` on the debug build at their smallest size, to check that they still run.
    Smoke,
    /// The API on PostgreSQL and Redis, compared with bare PostgreSQL and Redis: a table of ratios.
    Store(store::Options),
}

fn main() -> Result<()> {
    let repository = Repository::of_this_crate()?;
    let root = repository.root();
    match &Arguments::parse().what {
        What::Bulk { rounds, requests } => bulk(&release(root)?, Turns::new(*rounds, *requests))?,
        What::Dashboard(options) => dashboard::run(root, options)?,
        What::Visits { rounds, requests } => visits::run(&release(root)?, Turns::new(*rounds, *requests))?,
        What::Smoke => smoke(root)?,
        What::Instructions(options) => instructions::run(root, options)?,
        What::Matching(options) => matching::run(root, options)?,
        What::Passwords(options) => passwords::run(root, options)?,
        What::Hostile(options) => hostile::run(root, options)?,
        What::Edge(options) => edge::run(root, options)?,
        What::Import(options) => import::run(root, options)?,
        What::Analytics(options) => analytics::run(root, options)?,
        What::Store(options) => store::run(root, options)?,
    }
    Ok(())
}

fn release(root: &Path) -> Result<PathBuf> {
    program_to_measure(root, None, Profile::Release)
}

/// The path of the program that a benchmark measures: the given one, or that of this checkout, which it builds.
fn program_to_measure(root: &Path, given: Option<&Path>, profile: Profile) -> Result<PathBuf> {
    given.map_or_else(|| program::build(root, profile), absolute)
}

/// A path that holds in every folder.
fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| path.display().to_string())
}

/// Runs every benchmark on the program that the tests use, except for `instructions`, which needs valgrind. Their figures do
/// not count, so they run side by side.
fn smoke(root: &Path) -> Result<()> {
    let executable = &program::build(root, Profile::Debug)?;
    if !servers::are_installed() {
        writeln!(
            io::stderr(),
            "bench store and bench analytics did NOT run: PostgreSQL or Redis is not installed"
        )?;
        return smoke_without_servers(root, executable);
    }
    thread::scope(|scope| {
        let on_servers = scope.spawn(|| {
            store::run(root, &store::Options::smallest(executable.clone()))?;
            analytics::run(root, &analytics::Options::smallest())
        });
        smoke_without_servers(root, executable)?;
        on_servers.join().map_err(|_| anyhow!("bench store or bench analytics has panicked"))?
    })
}

/// The benchmarks that need neither PostgreSQL nor Redis, or omit their parts that do.
fn smoke_without_servers(root: &Path, executable: &Path) -> Result<()> {
    let executable = executable.to_owned();
    bulk(&executable, Turns::new(1, 1))?;
    visits::run(&executable, Turns::new(1, 1))?;
    dashboard::run(root, &dashboard::Options::smallest(executable.clone()))?;
    passwords::run(root, &passwords::Options::smallest(executable.clone()))?;
    matching::run(root, &matching::Options::smallest(executable.clone()))?;
    hostile::run(root, &hostile::Options::smallest(executable.clone()))?;
    edge::run(root, &edge::Options::smallest(executable.clone()))?;
    import::run(root, &import::Options::smallest(executable))
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
