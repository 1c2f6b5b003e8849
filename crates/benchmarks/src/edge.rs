//! `cargo xtask bench edge`: serving visitors, compared with a bare actix-web program and nginx.
//!
//! The measured program and the load have one core each. Above about 100,000 requests a second `wrk` is the bottleneck, so
//! processor time per request says more than requests per second.

mod cases;
mod contender;
mod crowd;
mod freshness;
mod https;
mod load;
mod machine;
mod memory;
mod on_postgres;
mod paths;
mod questions;
mod references;
mod report;
pub(super) mod scenery;
mod stage;
mod visits;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use cases::Part;
use load::{Load, has_wrk, is_installed};
use paths::Paths;
use references::Reference;
use report::EdgeReport;
use scenery::Scenery;
use signpost_xtask::program::{self, Profile};
use signpost_xtask::servers;
use stage::Stage;

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Number of rounds, after a warm-up round.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds of each turn of a round; 0 for the minimum of requests, without `wrk`.
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Only the cases whose names contain one of these, separated by commas: few, recorded, questions, one, dates, forwarding, rules, split, zipf, unknown,
    /// root, landing, closing, proxied, https, handshakes, idle, memory, cold, stalled, crowd, freshness.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Number of links.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    links: u32,
    /// Folder for the links on the embedded store, which later runs use again.
    #[arg(long)]
    data: Option<PathBuf>,
    /// A program to measure instead of the one built from this checkout.
    #[arg(long)]
    program: Option<PathBuf>,
}

impl Options {
    /// The smallest run of every case.
    pub(super) fn smallest(program: PathBuf) -> Self {
        Self { rounds: 1, seconds: 0, only: Vec::new(), links: 1_000, data: None, program: Some(program) }
    }
}

/// Every case. Those on PostgreSQL need it.
const PARTS: [(&str, Part); 22] = [
    ("few", cases::few),
    ("recorded", cases::recorded),
    ("questions", questions::during_questions),
    ("one", cases::one),
    ("dates", cases::dates),
    ("forwarding", cases::forwarding),
    ("rules", cases::rules),
    ("split", cases::split),
    ("zipf", cases::skewed),
    ("unknown", cases::unknown),
    ("root", cases::root),
    ("landing", cases::landing),
    ("closing", cases::closing),
    ("proxied", cases::proxied),
    ("https", https::kept),
    ("handshakes", https::handshakes),
    ("idle", https::idle),
    ("memory", memory::of_links),
    ("cold", on_postgres::cold),
    ("stalled", on_postgres::stalled),
    ("crowd", crowd::of_one_cold_link),
    ("freshness", freshness::of_changes),
];
const ON_POSTGRES: [&str; 4] = ["cold", "stalled", "crowd", "freshness"];

/// Runs the benchmark, and prints its results.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { rounds, seconds, only, links, data, program } = options;
    ensure!(*seconds == 0 || has_wrk(), "the load needs wrk, which is not installed: apt-get install wrk");
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|only| name.contains(only.as_str()));
    let profile = if *seconds == 0 { Profile::Debug } else { Profile::Release };
    let executable = crate::program_to_measure(root, program.as_deref(), profile)?;
    let bare = program::build_package(root, "signpost-bare-actix", profile)?;
    let (core, core_of_load) = machine::cores()?;
    let folder = tempfile::tempdir()?;
    let mut report = EdgeReport::default();
    let nginx = if is_installed("nginx") {
        Some(Reference::nginx(core)?)
    } else {
        report.note("nginx is not installed (apt-get install nginx-core), so the tables lack it".to_owned());
        None
    };
    let mut stage = Stage {
        executable: executable.clone(),
        core,
        load: Load { seconds: *seconds, core: core_of_load },
        rounds: *rounds,
        links: *links,
        has_cache: has_cache(&executable)?,
        paths: Paths::new(folder.path(), *links),
        scenery: Scenery::set_up(&executable, data.as_deref(), *links, core)?,
        actix: Reference::actix(&bare, core)?,
        nginx,
        on_postgres: None,
        report,
    };
    let before = machine::load_average()?;
    let mut outcome = Ok(());
    for (name, part) in PARTS.iter().filter(|(name, _)| is_wanted(name)) {
        if ON_POSTGRES.contains(name) && !servers::are_installed() {
            stage.report.note(format!("{name} did NOT run: PostgreSQL is not installed"));
            continue;
        }
        outcome = part(&mut stage).context(*name);
        if outcome.is_err() {
            break;
        }
    }
    // Print the results so far even after a failure.
    stage.report.print(&facts(&stage, &before)?)?;
    outcome
}

/// Whether the program has a setting for the memory of links. Earlier programs read the store at each visit.
fn has_cache(executable: &Path) -> Result<bool> {
    let help = Command::new(executable).args(["serve", "--help"]).output()?;
    Ok(String::from_utf8_lossy(&help.stdout).contains("--link-cache"))
}

/// The facts that a reader of the tables needs.
fn facts(stage: &Stage, load_before: &str) -> Result<String> {
    let cores = std::thread::available_parallelism()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let load_after = machine::load_average()?;
    let Stage { core, links, load, .. } = stage;
    Ok(format!(
        "`cargo xtask bench {}`: {cores} cores, the program on core {core}, the load on core {}; {links} links; load average \
         {load_before} before, {load_after} at the end.",
        words.join(" "),
        load.core
    ))
}
