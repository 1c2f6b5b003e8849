//! `cargo xtask bench edge`: what visitors meet, against a bare actix-web program and nginx.
//!
//! What is measured has a core of its own, and the load another. Above some 100,000 requests a second `wrk` is the limit, so
//! processor time per request tells more than requests per second.

mod cases;
mod contender;
mod crowd;
mod freshness;
mod load;
mod machine;
mod memory;
mod on_postgres;
mod paths;
mod questions;
mod references;
mod report;
mod scenery;
mod stage;
mod visits;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::program::{self, Profile};
use crate::servers;
use cases::Part;
use load::{Load, has_wrk, is_installed};
use paths::Paths;
use references::Reference;
use report::Report;
use scenery::Scenery;
use stage::Stage;

/// How it is measured.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// How many rounds are run, beside one that warms everything up.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// How long each turn of a round is; 0 for as few requests as there can be, without `wrk`.
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Only the cases whose names contain one of these, separated by commas: few, recorded, questions, one, zipf, unknown, root, landing,
    /// closing, proxied, memory, cold, stalled, crowd, freshness.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How many links there are.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    links: u32,
    /// A folder in which the links on the embedded store are made, or found if they were made there before.
    #[arg(long)]
    data: Option<PathBuf>,
    /// A program to measure instead of the one that is built from here.
    #[arg(long)]
    program: Option<PathBuf>,
}

impl Options {
    /// The least that runs every case.
    pub(super) fn smallest(program: PathBuf) -> Self {
        Self { rounds: 1, seconds: 0, only: Vec::new(), links: 1_000, data: None, program: Some(program) }
    }
}

/// Every case. Those on PostgreSQL need it.
const PARTS: [(&str, Part); 15] = [
    ("few", cases::few),
    ("recorded", cases::recorded),
    ("questions", questions::during_questions),
    ("one", cases::one),
    ("zipf", cases::skewed),
    ("unknown", cases::unknown),
    ("root", cases::root),
    ("landing", cases::landing),
    ("closing", cases::closing),
    ("proxied", cases::proxied),
    ("memory", memory::of_links),
    ("cold", on_postgres::cold),
    ("stalled", on_postgres::stalled),
    ("crowd", crowd::of_one_cold_link),
    ("freshness", freshness::of_changes),
];
const ON_POSTGRES: [&str; 4] = ["cold", "stalled", "crowd", "freshness"];

/// Measures, and prints what was found.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { rounds, seconds, only, links, data, program } = options;
    ensure!(*seconds == 0 || has_wrk(), "wrk is not installed, which makes the load: apt-get install wrk");
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|only| name.contains(only.as_str()));
    let profile = if *seconds == 0 { Profile::Debug } else { Profile::Release };
    let executable = match program {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => program::build(root, profile)?,
    };
    let bare = program::build_package(root, "signpost-bare-actix", profile)?;
    let (core, core_of_load) = machine::cores()?;
    let folder = tempfile::tempdir()?;
    let mut report = Report::default();
    let nginx = if is_installed("nginx") {
        Some(Reference::nginx(core)?)
    } else {
        report.note(
            "nginx is not installed (apt-get install nginx-core), so nothing is compared with it".to_owned(),
        );
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
    // What was found before a failure is told too.
    stage.report.print(&facts(&stage, &before)?)?;
    outcome
}

/// Whether the program has a setting for the memory that links may take. Those before it read the store at each visit.
fn has_cache(executable: &Path) -> Result<bool> {
    let help = Command::new(executable).args(["serve", "--help"]).output()?;
    Ok(String::from_utf8_lossy(&help.stdout).contains("--link-cache"))
}

/// What a reader of the tables must know.
fn facts(stage: &Stage, load_before: &str) -> Result<String> {
    let cores = std::thread::available_parallelism()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let load_after = machine::load_average()?;
    let Stage { core, links, load, .. } = stage;
    Ok(format!(
        "`cargo xtask {}`: {cores} cores, what is measured on core {core}, the load on core {}; {links} links; load average \
         {load_before} before, {load_after} at the end.",
        words.join(" "),
        load.core
    ))
}
