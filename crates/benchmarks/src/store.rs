//! `cargo xtask bench store`: the API on PostgreSQL and Redis, compared with the maximum of both.

mod bulk_writes;
mod load;
mod pages;
mod processor_time;
mod quota;
mod redis;
mod report;
mod requests;
mod scenery;
mod single_writes;
mod stage;
pub(super) mod statements;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use report::StoreReport;
use scenery::Scenery;
use signpost_xtask::program::Profile;
use stage::Stage;

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Number of rounds, after a warm-up round.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds of each turn of a round; 0 for the minimum of requests.
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Only the parts whose names contain this: create, update, bulk create, bulk delete, bulk unassign, pages, groups,
    /// quota, requests.
    #[arg(long)]
    only: Option<String>,
    /// Number of links of the largest account; they are created through the API.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    links: u32,
    /// A program to measure instead of the one built from this checkout.
    #[arg(long)]
    program: Option<PathBuf>,
    /// An earlier program, for a comparison of the cost of requests.
    #[arg(long)]
    before: Option<PathBuf>,
}

impl Options {
    /// The smallest run of every part.
    pub(super) fn smallest(program: PathBuf) -> Self {
        Self { rounds: 1, seconds: 0, only: None, links: 1_000, program: Some(program), before: None }
    }
}

/// A part of the benchmark.
type Part<'a> = &'a dyn Fn(&Stage, &Scenery, &mut StoreReport) -> Result<()>;

/// Runs the benchmark, and prints its results.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { rounds, seconds, only, links, program, before } = options;
    let executable = crate::program_to_measure(root, program.as_deref(), Profile::Release)?;
    let mut report = StoreReport::new(*rounds, *seconds);
    let stage = Stage::start(&executable, before.as_deref())?;
    let scenery = Scenery::set_up(&stage, *links)?;
    report.note(&size_of_links(&stage, &scenery)?);
    let is_wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let quota = |stage: &Stage, scenery: &Scenery, report: &mut StoreReport| {
        quota::of_reads(root, stage, scenery, report)
    };
    let parts: [(&str, Part<'_>); 9] = [
        ("pages", &pages::of_links),
        ("groups", &pages::of_groups),
        ("quota", &quota),
        ("requests", &requests::of_the_program),
        ("update", &single_writes::update),
        ("create", &single_writes::creation),
        ("bulk unassign", &bulk_writes::unassigning),
        ("bulk delete", &bulk_writes::deletion),
        ("bulk create", &bulk_writes::creation),
    ];
    let mut wanted = parts.iter().filter(|(name, _)| is_wanted(name));
    let outcome = wanted.try_for_each(|(name, part)| part(&stage, &scenery, &mut report).context(*name));
    // Print the results so far even after a failure.
    report.print(&facts(&stage)?)?;
    outcome
}

/// How the links of the large account were created, and their size.
fn size_of_links(stage: &Stage, scenery: &Scenery) -> Result<String> {
    let Scenery { creation, log_of_creation, links_of_large, .. } = scenery;
    let ask = |sql: &str| stage.postgres.query(sql);
    let rate = creation.rate() * 100.0;
    let table = ask("SELECT pg_table_size('links') / count(*) FROM links")?;
    let indexes = ask("SELECT pg_indexes_size('links') / count(*) FROM links")?;
    let each = ask(
        "SELECT string_agg(indexrelname || ' ' || size, ', ' ORDER BY size DESC) FROM (SELECT indexrelname, \
         pg_relation_size(indexrelid) / (SELECT count(*) FROM links) AS size FROM pg_stat_user_indexes \
         WHERE relname = 'links') AS indexes",
    )?;
    let log = log_of_creation.parse::<u64>().unwrap_or_default() / links_of_large.max(&1);
    Ok(format!(
        "{links_of_large} links created by bulk calls of 100 on 8 connections: {rate:.0} links a second. Per link: {table} \
         bytes of table, {indexes} bytes of indexes ({each}), {log} bytes of write-ahead log.\n"
    ))
}

/// The facts that a reader of the table needs.
fn facts(stage: &Stage) -> Result<String> {
    let cores = std::thread::available_parallelism()?;
    let memory = fs::read_to_string("/proc/meminfo")?;
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default().trim();
    let version = stage.postgres.query("SHOW server_version")?;
    let date =
        stage.postgres.query("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI \"UTC\"')")?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    Ok(format!(
        "`cargo xtask bench {}`, {date}, {cores} cores, {memory} of memory, PostgreSQL {version}.",
        words.join(" ")
    ))
}
