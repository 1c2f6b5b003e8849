//! The effect of analytics queries on visits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::contender::{Contender, microseconds};
use super::machine;
use super::stage::Stage;
use super::visits::{Pace, Turn, Visits};
use crate::commands::Commands;
use crate::connection::ApiClient;
use crate::figure::Goal;
use signpost_xtask::program::Program;

/// A figure of a turn.
type Reading = fn(&Turn) -> Duration;

/// The number of accounts that query.
const ACCOUNTS: u32 = 10;

const YEAR: Duration = Duration::from_hours(365 * 24);

/// A program that works for less than a hundredth of this time is idle.
const IDLE_WINDOW: Duration = Duration::from_secs(2);

/// The time limit until clicks are counted, and until the program is idle.
const PATIENCE: Duration = Duration::from_secs(30);

/// Visits of a thousand links, alone and while ten accounts repeatedly query their last year. The program has one core for
/// everything. The days are not over, so it counts single clicks and uses no digests.
pub(super) fn during_questions(stage: &mut Stage) -> Result<()> {
    let twin = stage.scenery.twin()?;
    let program = twin.start(&[])?;
    let commands = Commands::embedded(&stage.executable, twin.folder());
    let callers: Result<Vec<ApiClient>> =
        (0..ACCOUNTS).map(|number| asker(stage, &program, &commands, number)).collect();
    let callers = callers?;
    let question = question()?;
    for caller in &callers {
        await_clicks(caller, &question)?;
    }
    if stage.load.seconds > 0 {
        await_rest(program.pid())?;
    }
    let visits = stage.paths.few()?;
    let mut alone = Contender::new("alone", &program.links, program.pid(), &visits, 302)?;
    let mut meanwhile = Contender::new("ours", &program.links, program.pid(), &visits, 302)?;
    let answers = AtomicU64::new(0);
    let mut asking = Duration::ZERO;
    for _ in 0..stage.rounds {
        alone.take(&stage.load, Pace::Modest, stage.core)?;
        let is_over = AtomicBool::new(false);
        let began = Instant::now();
        thread::scope(|scope| {
            let askers: Vec<_> = callers
                .iter()
                .map(|caller| scope.spawn(|| ask(caller, &question, stage.load.core, &answers, &is_over)))
                .collect();
            let taken = meanwhile.take(&stage.load, Pace::Modest, stage.core);
            is_over.store(true, Ordering::Relaxed);
            for asker in askers {
                asker.join().ok().context("an account's thread has panicked")??;
            }
            taken
        })?;
        asking += began.elapsed();
    }
    let times: [(&str, Reading, Goal); 3] = [
        ("p50", |turn| turn.p50, Goal::None),
        ("p99", |turn| turn.p99, Goal::AtMost(1.2)),
        ("p99.9", |turn| turn.p999, Goal::None),
    ];
    for (name, of, goal) in times {
        let numbers = |contender: &Contender| contender.numbers(Pace::Modest, |turn| microseconds(of(turn)));
        let name = format!("visits while {ACCOUNTS} accounts ask for their year, to alone: {name}, µs");
        stage.report.ratio(&name, &numbers(&alone), &numbers(&meanwhile), goal);
    }
    let a_second = f64::from(u32::try_from(answers.into_inner())?) / asking.as_secs_f64();
    stage.report.note(format!("questions answered a second meanwhile: {a_second:.0}"));
    program.stop()
}

/// An account with a visited link.
fn asker(stage: &Stage, program: &Program, commands: &Commands, number: u32) -> Result<ApiClient> {
    let (_, key) = commands.account(&format!("asker-{number}"))?;
    let caller = ApiClient::new(program, &key);
    let slug = format!("asked-{number}");
    let link = json!({"name": "A link", "slug": slug, "target_url": "https://example.com/", "analytics_enabled": true});
    caller.connect()?.send(&caller.request("POST", "/v1/redirects", &link.to_string()))?;
    let visits = Visits::of(stage.paths.folder(), &slug, &[format!("/{slug}")])?;
    Contender::new("visited", &program.links, program.pid(), &visits, 302)?.warm_up(&stage.load)?;
    Ok(caller)
}

/// The query for the last year until now.
fn question() -> Result<String> {
    let now = UNIX_EPOCH.elapsed()?;
    let (start, end) = (now.saturating_sub(YEAR).as_millis(), now.as_millis());
    Ok(format!("/v1/analytics?start_date={start}&end_date={end}&interval=day&dimensions=browser,referrer"))
}

/// Waits until the account's visits are counted.
fn await_clicks(caller: &ApiClient, question: &str) -> Result<()> {
    let began = Instant::now();
    let mut connection = caller.connect()?;
    loop {
        let body: serde_json::Value =
            serde_json::from_slice(connection.send(&caller.request("GET", question, ""))?)?;
        let clicks = body.pointer("/totals/clicks").and_then(serde_json::Value::as_u64);
        if clicks.with_context(|| body.to_string())? > 0 {
            return Ok(());
        }
        ensure!(began.elapsed() < PATIENCE, "the clicks were not counted in time: {body}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the clicks are packed, which uses this core too.
fn await_rest(process: u32) -> Result<()> {
    let began = Instant::now();
    loop {
        let before = machine::work_of(process)?;
        thread::sleep(IDLE_WINDOW);
        if machine::work_of(process)?.saturating_sub(before) < IDLE_WINDOW / 100 {
            return Ok(());
        }
        ensure!(began.elapsed() < PATIENCE, "the program did not become idle in time");
    }
}

/// Queries until the turn is over. The program may refuse a query under load (D51).
fn ask(
    caller: &ApiClient,
    question: &str,
    core: u32,
    answers: &AtomicU64,
    is_over: &AtomicBool,
) -> Result<()> {
    machine::pin_this_thread(core)?;
    let mut connection = caller.connect()?;
    while !is_over.load(Ordering::Relaxed) {
        match connection.exchange(&caller.request("GET", question, ""))?.status {
            200 => answers.fetch_add(1, Ordering::Relaxed),
            status => {
                ensure!(status == 503, "the answer to a query has the status {status}");
                continue;
            }
        };
    }
    Ok(())
}
