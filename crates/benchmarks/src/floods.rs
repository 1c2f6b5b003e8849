//! The costs of floods: connections that stay idle, visits with invented values, bursts of them, and one account's large reports.
//!
//! Each row has the memory of the program before, at its peak and a while after, and what another account notices meanwhile: the
//! times of its reports, the refused ones, and how many of its clicks were counted.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};
use serde_json::json;
use signpost_test_servers::hostile_clients::memory_of;

use super::commands::Commands;
use super::connection::{ApiClient, Connection};
use super::random::Random;
use signpost_xtask::program::Program;

/// The size of the floods.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// How many visits the largest flood makes.
    pub(super) visits: u64,
    /// How many connections stay idle.
    pub(super) idle: usize,
    /// How long reports are asked for.
    pub(super) asking: Duration,
    /// How long the program rests before its memory is measured again.
    pub(super) rest: Duration,
}

/// The interval between two requests of the other account.
const PAUSE: Duration = Duration::from_millis(20);

/// The limit until the other account's clicks are counted.
const PATIENCE: Duration = Duration::from_mins(1);

/// Connections of a flood. A burst uses many more than are needed to keep the program busy.
const STEADY: usize = 4;
const BURST: usize = 64;

/// Accounts are queried by this many clients at once.
const ASKERS: usize = 8;

const DAY: Duration = Duration::from_hours(24);

/// Runs every flood, each against a new program, and returns a table.
pub(super) fn run(executable: &Path, size: Size) -> Result<String> {
    let mut table = format!(
        "{:<18}{:>10}{:>10}{:>10}{:>14}{:>26}{:>18}\n",
        "floods", "memory", "peak", "after", "bytes/click", "other's p50/p99 ms", "other's clicks"
    );
    table.push_str(&idle_places(executable, size)?);
    for (name, visits, connections) in
        [("invented values", size.visits, STEADY), ("burst", size.visits.div_ceil(3), BURST)]
    {
        table.push_str(&visits_flood(executable, name, visits, connections, size)?);
    }
    table.push_str(&large_reports(executable, size)?);
    Ok(table)
}

/// A program with the links of two accounts.
struct Scene {
    folder: tempfile::TempDir,
    program: Program,
    flooded: ApiClient,
    other: ApiClient,
}

impl Scene {
    fn start(executable: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let settings = ["--miss-throttle-per-minute", "0"];
        let program = Program::start_with(executable, folder.path(), &settings)?;
        let commands = Commands::embedded(executable, folder.path());
        let (_, key) = commands.account("other")?;
        let (flooded, other) = (ApiClient::new(&program, &program.key), ApiClient::new(&program, &key));
        for (caller, slug) in [(&flooded, "flooded"), (&other, "other")] {
            let link = json!({"name": "A link", "slug": slug, "target_url": "https://example.com/", "analytics_enabled": true});
            caller.connect()?.send(&caller.request("POST", "/v1/redirects", &link.to_string()))?;
        }
        Ok(Self { folder, program, flooded, other })
    }

    /// The bytes of the files of the clicks.
    fn stored(&self) -> Result<u64> {
        let mut bytes = 0;
        for entry in std::fs::read_dir(self.folder.path())? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().contains("-clicks") {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(bytes)
    }
}

/// A query over the last days.
fn question(days: u32) -> Result<String> {
    let now = UNIX_EPOCH.elapsed()?;
    let (start, end) = (now.saturating_sub(DAY * days).as_millis(), now.saturating_add(DAY).as_millis());
    let dimensions = "browser,referrer,utm_source,utm_medium,utm_campaign";
    Ok(format!("/v1/analytics?start_date={start}&end_date={end}&interval=day&dimensions={dimensions}"))
}

/// What another account has noticed.
#[derive(Default)]
struct Noticed {
    times: Vec<Duration>,
    refused: usize,
    visits: u64,
}

impl Noticed {
    fn shown(&mut self) -> String {
        self.times.sort_unstable();
        let at = |percent: usize| {
            let place = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
            self.times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
        };
        let refused = if self.refused > 0 { format!(" -{}", self.refused) } else { String::new() };
        format!("{:.1}/{:.1}{refused}", at(50), at(99))
    }
}

/// Visits the other account's link and asks for its report, until the flood is over, at least once.
fn notice(scene: &Scene, is_over: &AtomicBool) -> Result<Noticed> {
    let mut noticed = Noticed::default();
    let (mut visitor, mut reader) = (Connection::open(&scene.program.links)?, scene.other.connect()?);
    let visit = "GET /other HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) \
                 Gecko/20100101 Firefox/140.0\r\n\r\n";
    let report = scene.other.request("GET", &question(1)?, "");
    loop {
        noticed.visits += u64::from(visitor.exchange(visit.as_bytes())?.status == 302);
        let began = Instant::now();
        match reader.exchange(&report)?.status {
            200 => noticed.times.push(began.elapsed()),
            _ => noticed.refused += 1,
        }
        if is_over.load(Ordering::Relaxed) {
            return Ok(noticed);
        }
        thread::sleep(PAUSE);
    }
}

/// A visit with values that no other visit has.
fn invented(random: &mut Random) -> String {
    let mut word = || format!("{:016x}{:016x}", random.next(), random.next());
    format!(
        "GET /flooded?utm_source={}&utm_medium={}&utm_campaign={} HTTP/1.1\r\nHost: localhost\r\nReferer: https://{}.example/\r\n\
         User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 {}\r\n\r\n",
        word(),
        word(),
        word(),
        word(),
        word()
    )
}

fn flood(links: &str, visits: u64, connections: usize) -> Result<()> {
    let left = AtomicU64::new(visits);
    thread::scope(|scope| {
        let crowd: Vec<_> = (0..connections)
            .map(|number| {
                let left = &left;
                scope.spawn(move || -> Result<()> {
                    let mut random = Random::of_worker(u64::try_from(number)?);
                    let mut connection = Connection::open(links)?;
                    let take = |left: u64| left.checked_sub(1);
                    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                        connection.exchange(invented(&mut random).as_bytes())?;
                    }
                    Ok(())
                })
            })
            .collect();
        crowd
            .into_iter()
            .try_for_each(|visitor| visitor.join().map_err(|_| anyhow!("a visitor has panicked"))?)
    })
}

/// The outcome of a flood.
struct Watched {
    before: usize,
    peak: usize,
    noticed: Noticed,
}

/// Runs a flood, and watches the program and the other account meanwhile.
fn watched(scene: &Scene, flood: impl FnOnce() -> Result<()>) -> Result<Watched> {
    let process = scene.program.pid();
    let before = memory_of(process);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let noticing = scope.spawn(|| notice(scene, &is_over));
        let watching = scope.spawn(|| {
            let mut peak = before;
            while !is_over.load(Ordering::Relaxed) {
                peak = peak.max(memory_of(process));
                thread::sleep(PAUSE);
            }
            peak
        });
        let flooded = flood();
        is_over.store(true, Ordering::Relaxed);
        let noticed = noticing.join().map_err(|_| anyhow!("the other account has panicked"))??;
        let peak = watching.join().map_err(|_| anyhow!("the watcher has panicked"))?;
        flooded.map(|()| Watched { before, peak, noticed })
    })
}

fn row(name: &str, watched: Watched, after: usize, bytes: Option<u64>, clicks: &str) -> Result<String> {
    let Watched { before, peak, mut noticed } = watched;
    let mib = |bytes: usize| format!("{} MiB", bytes >> 20);
    let bytes = bytes.map_or_else(|| "–".to_owned(), |bytes| bytes.to_string());
    let mut row = format!("{name:<18}{:>10}{:>10}{:>10}{bytes:>14}", mib(before), mib(peak), mib(after));
    writeln!(row, "{:>26}{clicks:>18}", noticed.shown())?;
    Ok(row)
}

/// The number of clicks that the caller's report has.
fn counted(caller: &ApiClient) -> Result<u64> {
    let mut connection = caller.connect()?;
    let answer = connection.exchange(&caller.request("GET", &question(1)?, ""))?;
    let body: serde_json::Value = serde_json::from_slice(answer.body)?;
    Ok(body.pointer("/totals/clicks").and_then(serde_json::Value::as_u64).unwrap_or_default())
}

/// Waits until all clicks of the other account are counted, and returns how many are.
fn settled(scene: &Scene, visits: u64) -> Result<u64> {
    let began = Instant::now();
    loop {
        let clicks = counted(&scene.other)?;
        if clicks >= visits || began.elapsed() >= PATIENCE {
            return Ok(clicks);
        }
        thread::sleep(PAUSE);
    }
}

fn visits_flood(
    executable: &Path,
    name: &str,
    visits: u64,
    connections: usize,
    size: Size,
) -> Result<String> {
    let scene = Scene::start(executable)?;
    let watched = watched(&scene, || flood(&scene.program.links, visits, connections))?;
    let clicks = settled(&scene, watched.noticed.visits)?;
    thread::sleep(size.rest);
    let after = memory_of(scene.program.pid());
    let clicks = format!("{clicks} of {}", watched.noticed.visits);
    let bytes = scene.stored()?.checked_div(visits);
    let row = row(name, watched, after, bytes, &clicks)?;
    scene.program.stop()?;
    Ok(row)
}

/// Connections of one address that stay after one answer each. Then the other account connects anew.
fn idle_places(executable: &Path, size: Size) -> Result<String> {
    let scene = Scene::start(executable)?;
    let host = scene.program.links.as_str();
    let request = "GET /missing HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut idle = Vec::with_capacity(size.idle);
    let watched = watched(&scene, || {
        for _ in 0..size.idle {
            let mut connection = Connection::open(host)?;
            // A program may also refuse or close it: that is its right.
            let _ = connection.exchange(request.as_bytes());
            idle.push(connection);
        }
        Ok(())
    })?;
    let newcomers = 50;
    let is_served = |_: &i32| {
        let visit = "GET /other HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        Connection::open(host)
            .and_then(|mut new| new.status(visit.as_bytes()))
            .is_ok_and(|status| status == 302)
    };
    let served = (0..newcomers).filter(is_served).count();
    let after = memory_of(scene.program.pid());
    let row = row("idle places", watched, after, None, &format!("{served} of {newcomers} new"))?;
    drop(idle);
    scene.program.stop()?;
    Ok(row)
}

/// One account with many clicks asks for its year, again and again.
fn large_reports(executable: &Path, size: Size) -> Result<String> {
    let scene = Scene::start(executable)?;
    flood(&scene.program.links, size.visits, STEADY)?;
    settled(&scene, 0)?;
    thread::sleep(size.rest);
    let mut alone = watched(&scene, || {
        thread::sleep(size.asking);
        Ok(())
    })?;
    let year = question(365)?;
    let is_over = AtomicBool::new(false);
    let large = watched(&scene, || {
        thread::scope(|scope| {
            let askers: Vec<_> = (0..ASKERS)
                .map(|_| {
                    let (caller, year, is_over) = (scene.flooded.clone(), &year, &is_over);
                    scope.spawn(move || -> Result<()> {
                        let mut connection = caller.connect()?;
                        while !is_over.load(Ordering::Relaxed) {
                            connection.exchange(&caller.request("GET", year, ""))?;
                        }
                        Ok(())
                    })
                })
                .collect();
            thread::sleep(size.asking);
            is_over.store(true, Ordering::Relaxed);
            askers.into_iter().try_for_each(|asker| asker.join().ok().context("an asker has panicked")?)
        })
    })?;
    let after = memory_of(scene.program.pid());
    let clicks = format!("alone {}", alone.noticed.shown());
    let row = row("large reports", large, after, None, &clicks)?;
    scene.program.stop()?;
    Ok(row)
}
