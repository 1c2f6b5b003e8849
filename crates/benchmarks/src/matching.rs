//! `cargo xtask bench matching`: one change to all links of a large account that match a filter, and another account
//! meanwhile.
//!
//! The change moves the targets of all links to another host. First it runs dry; both must count the same.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::{Value, json};

use crate::commands::Commands;
use crate::connection::ApiClient;
use crate::edge::scenery::create;
use crate::figure::Goal;
use crate::latency::{self, Latencies};
use crate::postgres::Postgres;
use signpost_xtask::program::{Profile, Program};
use signpost_xtask::servers;

/// The host of the targets, and the one that they move to. Then they move back.
const HOSTS: [&str; 2] = ["example.com", "example.org"];

/// On how many connections links are created.
const CREATORS: u32 = 4;

/// The links of the other account.
const LINKS_OF_OTHER: usize = 100;

/// What the other account reads.
const LIST: &str = "/v1/redirects?limit=25";

/// How long the other account is measured without the change.
const CALM: Duration = Duration::from_secs(20);

/// The goal of the ratio of the other account's 99th percentiles.
const GOAL: Goal = Goal::AtMost(1.2);

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The number of links that the change matches.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
    links: u32,
    /// Only one of both stores: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
    /// A program to measure instead of the one built from this checkout.
    #[arg(long)]
    program: Option<PathBuf>,
}

impl Options {
    /// The smallest run.
    pub(super) const fn smallest(program: PathBuf) -> Self {
        Self { links: 1_100, only: None, program: Some(program) }
    }
}

/// What the calls of a change counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    matched: u64,
    updated: u64,
    unchanged: u64,
}

/// Runs the change on each store.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { links, only, program } = options;
    let executable = crate::program_to_measure(root, program.as_deref(), Profile::Release)?;
    let is_wanted = |store: &str| only.as_ref().is_none_or(|only| only == store);
    if is_wanted("sqlite") {
        let folder = tempfile::tempdir()?;
        let program = Program::start(&executable, folder.path())?;
        measure(&program, &Commands::embedded(&executable, folder.path()), "SQLite", *links)?;
        program.stop()?;
    }
    if is_wanted("postgres") {
        if !servers::are_installed() {
            writeln!(io::stderr(), "PostgreSQL is not installed, so the change did NOT run on it")?;
            return Ok(());
        }
        let postgres = Postgres::start()?;
        let commands = Commands::on_postgres(&executable, &postgres);
        commands.run(&["migrate"])?;
        let folder = tempfile::tempdir()?;
        let program = Program::start_with(&executable, folder.path(), &["--database-url", &postgres.url()])?;
        measure(&program, &commands, "PostgreSQL", *links)?;
        program.stop()?;
    }
    Ok(())
}

/// Creates the links, changes them, and prints the table of a store.
fn measure(program: &Program, commands: &Commands, store: &str, links: u32) -> Result<()> {
    let caller = |name| Ok::<_, anyhow::Error>(ApiClient::new(program, &commands.account(name)?.1));
    let (owner, other) = (caller("owner")?, caller("other")?);
    create(&owner, links, CREATORS)?;
    let requests = requests_of(&other)?;
    let calm_time = if links < 100_000 { Duration::from_millis(50) } else { CALM };
    let [from, to] = HOSTS;
    for (name, requests) in &requests {
        let until = Instant::now() + calm_time;
        let calm = Latencies::of(&mut other.connect()?, requests, || Instant::now() > until)?;
        let change = |hosts, dry_run| change(&owner, &other, requests, hosts, dry_run);
        let (dry_run, dry, dry_time) = change([from, to], true)?;
        let (run, real, real_time) = change([from, to], false)?;
        let (_, back, _) = change([to, from], false)?;
        ensure!(
            dry == real && back == real,
            "the dry run counted {dry:?}, the run {real:?} and then {back:?}"
        );
        ensure!(real.updated == u64::from(links), "{real:?} of {links} links");
        let mut output = io::stdout().lock();
        writeln!(
            output,
            "\n{store}, {links} links: dry run {:.1} s, run {:.1} s, each with {real:?}; meanwhile {name} of another account",
            dry_time.as_secs_f64(),
            real_time.as_secs_f64()
        )?;
        for (disturbance, busy) in [("dry run", dry_run), ("run", run)] {
            writeln!(output, "{}", latency::head(disturbance))?;
            for row in latency::rows(&[(calm.clone(), busy)], GOAL) {
                writeln!(output, "{row}")?;
            }
        }
    }
    Ok(())
}

/// What an account sends again and again, with its name in tables.
type NamedRequests = (&'static str, Vec<Vec<u8>>);

/// A list and a change of the other account, which has some links.
fn requests_of(other: &ApiClient) -> Result<[NamedRequests; 2]> {
    let link = json!({"name": "A link", "target_url": "https://example.net/"});
    let body = json!({"redirects": vec![link; LINKS_OF_OTHER]}).to_string();
    let mut connection = other.connect()?;
    let created: Value =
        serde_json::from_slice(connection.send(&other.request("POST", "/v1/redirects/bulk", &body))?)?;
    let id = created.pointer("/created/0/data/id").and_then(Value::as_str).context("no link")?;
    let path = format!("/v1/redirects/{id}");
    let patches = ["a", "b"].map(|note| other.request("PATCH", &path, &json!({"note": note}).to_string()));
    Ok([(LIST, vec![other.request("GET", LIST, "")]), ("PATCH of a link", patches.into())])
}

/// Moves all targets from one host to another, call by call, and measures the other account meanwhile.
fn change(
    owner: &ApiClient,
    other: &ApiClient,
    requests: &[Vec<u8>],
    hosts: [&str; 2],
    dry_run: bool,
) -> Result<(Latencies, Counts, Duration)> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let changing = scope.spawn(|| {
            let began = Instant::now();
            let counts = calls(owner, hosts, dry_run);
            is_over.store(true, Ordering::Relaxed);
            Ok((counts?, began.elapsed()))
        });
        let latencies = Latencies::of(&mut other.connect()?, requests, || is_over.load(Ordering::Relaxed))?;
        let changed: Result<(Counts, Duration)> =
            changing.join().map_err(|_| anyhow!("the change has panicked"))?;
        let (counts, took) = changed?;
        Ok((latencies, counts, took))
    })
}

/// Calls until there is no cursor, and adds up what the calls count.
fn calls(owner: &ApiClient, [from, to]: [&str; 2], dry_run: bool) -> Result<Counts> {
    let mut connection = owner.connect()?;
    let mut counts = Counts::default();
    let mut cursor = Value::Null;
    loop {
        let mut body = json!({
            "filter": {"target_host": from}, "dry_run": dry_run,
            "patch": {"replace_target_prefix": {"from": format!("https://{from}/"), "to": format!("https://{to}/")}},
        });
        if let (Value::Object(body), Value::String(_)) = (&mut body, &cursor) {
            body.insert("cursor".to_owned(), cursor);
        }
        let request = owner.request("POST", "/v1/redirects/update-matching", &body.to_string());
        let answer: Value = serde_json::from_slice(connection.send(&request)?)?;
        let count =
            |field: &str| answer.get(field).and_then(Value::as_u64).with_context(|| answer.to_string());
        counts.matched += count("matched_count")?;
        counts.updated += count("updated_count")?;
        counts.unchanged += count("unchanged_count")?;
        ensure!(answer.get("failed") == Some(&json!([])), "{answer}");
        match answer.get("next_cursor") {
            Some(Value::String(next)) => cursor = json!(next),
            Some(Value::Null) => return Ok(counts),
            _ => bail!("no cursor: {answer}"),
        }
    }
}
