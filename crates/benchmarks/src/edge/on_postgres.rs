//! Benchmarks on PostgreSQL: links that are not in memory yet, and links in memory while PostgreSQL is paused.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::contender::{Contender, Failures, microseconds};
use super::machine;
use super::scenery::create;
use super::stage::Stage;
use super::visits::{Pace, Turn};
use crate::commands::Commands;
use crate::connection::{ApiClient, Connection};
use crate::figure::Goal;
use crate::pgbench::Script;
use crate::postgres::Postgres;
use crate::turns::Until;
use signpost_xtask::program::Program;

/// The number of clients that look up links at once.
const CLIENTS: u32 = 8;

/// The number of connections that create the links.
const CREATORS: u32 = 8;

/// The server with all links.
pub(super) struct Links {
    postgres: Postgres,
    executable: PathBuf,
    core: u32,
    key: String,
}

impl Links {
    /// Returns the links of the last case, or creates them.
    pub(super) fn of(stage: &mut Stage) -> Result<Self> {
        stage.on_postgres.take().map_or_else(|| Self::set_up(stage), Ok)
    }

    fn set_up(stage: &Stage) -> Result<Self> {
        let postgres = Postgres::start()?;
        let commands = Commands::on_postgres(&stage.executable, &postgres);
        commands.run(&["migrate"])?;
        let (_, key) = commands.account("owner")?;
        // The creation is not measured.
        postgres.query("ALTER SYSTEM SET synchronous_commit = off; SELECT pg_reload_conf();")?;
        let program = Command::new(&stage.executable);
        let program = start(program, &postgres, "first")?;
        create(&ApiClient::new(&program, &key), stage.links, CREATORS)?;
        program.stop()?;
        postgres.query("ALTER SYSTEM RESET synchronous_commit; SELECT pg_reload_conf();")?;
        postgres.query("VACUUM (ANALYZE); CHECKPOINT;")?;
        Ok(Self { postgres, executable: stage.executable.clone(), core: stage.core, key })
    }

    /// Starts a node without links in memory.
    pub(super) fn start(&self) -> Result<Program> {
        start(machine::on_core(self.core, &self.executable), &self.postgres, "program")
    }

    /// Starts another node on any core.
    pub(super) fn start_another(&self) -> Result<Program> {
        start(Command::new(&self.executable), &self.postgres, "another")
    }

    /// A caller of the API of a node.
    pub(super) fn caller(&self, program: &Program) -> ApiClient {
        ApiClient::new(program, &self.key)
    }

    pub(super) const fn postgres(&self) -> &Postgres {
        &self.postgres
    }

    /// Pauses the server's processes.
    pub(super) fn hold(&self) -> Result<Held> {
        let held = Held { family: family(self.postgres.pid())? };
        signal("STOP", &held.family)?;
        Ok(held)
    }
}

/// A paused server. Dropping it resumes the server.
pub(super) struct Held {
    family: Vec<String>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // This fails only without `kill`, and then nothing was paused.
        let _ = signal("CONT", &self.family);
    }
}

fn start(command: Command, postgres: &Postgres, name: &str) -> Result<Program> {
    let folder = postgres.folder().join(name);
    fs::create_dir_all(&folder)?;
    let database = postgres.url();
    let settings = ["--database-url", &database, "--miss-throttle-per-minute", "0"];
    Program::start_by(command, &folder, &settings)
}

/// Every request asks for a link that is not in memory, compared with the bare look-up by `pgbench`.
pub(super) fn cold(stage: &mut Stage) -> Result<()> {
    let links = Links::of(stage)?;
    let visits = stage.paths.all()?;
    let look_up = Script::new(format!(
        "\\set r random(0, {})\nSELECT id, account_id, kind, target_url, is_active, analytics_enabled FROM links \
         WHERE host = '' AND slug = 's' || :r;",
        stage.links - 1
    ));
    let until = match stage.load.seconds {
        0 => Until::Requests(2 * CLIENTS),
        seconds => Until::Elapsed(Duration::from_secs(seconds.into())),
    };
    let (mut reference, mut ours, mut works) = (Vec::new(), Vec::new(), Vec::new());
    let mut next = 0;
    for round in 0..=stage.rounds {
        let (count, time) = look_up.run(&links.postgres, CLIENTS, until, 0)?;
        // A program without links in memory.
        let program = links.start()?;
        let mut contender = Contender::new("ours", &program.links, program.pid(), &visits, 302)?;
        contender.begin_at(next);
        contender.take(&stage.load, Pace::Saturated, stage.core)?;
        next = contender.next();
        let failures = contender.failures();
        ensure!(failures == Failures { unanswered: 0, refused: 0 }, "{failures:?}");
        program.stop()?;
        if round > 0 {
            reference.push(f64::from(count) / time.as_secs_f64());
            ours.extend(contender.numbers(Pace::Saturated, Turn::rate));
            works.extend(contender.numbers(Pace::Saturated, Turn::work_of_one));
        }
    }
    stage.report.ratio(
        "cold links a second, to pgbench at 8 clients",
        &reference,
        &ours,
        Goal::AtLeast(0.60),
    );
    works.sort_by(f64::total_cmp);
    let work = works.get(works.len() / 2).copied().unwrap_or_default();
    stage.on_postgres = Some(links);
    stage.report.note(format!("cold: {work:.0} µs of the program's CPU a request"));
    Ok(())
}

/// Links in memory, while PostgreSQL is paused.
pub(super) fn stalled(stage: &mut Stage) -> Result<()> {
    let links = Links::of(stage)?;
    let program = links.start()?;
    let visits = stage.paths.few()?;
    let contender = |name| Contender::new(name, &program.links, program.pid(), &visits, 302);
    let (mut usual, mut stalled) = (contender("usual")?, contender("stalled")?);
    // Visit until all of them are in memory.
    let mut connection = Connection::open(&program.links)?;
    for request in visits.requests()?.into_iter().collect::<BTreeSet<_>>() {
        connection.send(&request)?;
    }
    drop(connection);
    for _ in 0..stage.rounds {
        usual.take(&stage.load, Pace::Modest, stage.core)?;
        let held = links.hold()?;
        stalled.take(&stage.load, Pace::Modest, stage.core)?;
        drop(held);
    }
    program.stop()?;
    stage.on_postgres = Some(links);
    let p99 = |contender: &Contender| contender.numbers(Pace::Modest, |turn| microseconds(turn.p99));
    let name = "p99 in µs while PostgreSQL stands still, to p99 before";
    stage.report.ratio(name, &p99(&usual), &p99(&stalled), Goal::AtMost(1.2));
    let Failures { unanswered, refused } = stalled.failures();
    let seconds = stage.load.seconds;
    stage.report.note(format!(
        "PostgreSQL stands still for {seconds} s at a time: {unanswered} requests without an answer, {refused} refused"
    ));
    Ok(())
}

/// A process and its children.
fn family(process: u32) -> Result<Vec<String>> {
    let children = fs::read_to_string(Path::new("/proc").join(format!("{process}/task/{process}/children")))?;
    Ok([process.to_string()].into_iter().chain(children.split_whitespace().map(str::to_owned)).collect())
}

fn signal(name: &str, processes: &[String]) -> Result<()> {
    // A connection may have ended since, which `kill` reports as a failure.
    let mut kill = Command::new("kill");
    kill.arg(format!("-{name}")).args(processes).stderr(Stdio::null());
    kill.status().context("cannot start `kill`")?;
    Ok(())
}
