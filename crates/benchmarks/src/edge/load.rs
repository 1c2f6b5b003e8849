//! The load: `wrk`, or our own threads for the smallest runs and where `wrk` cannot measure.

use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};

use super::machine;
use super::visits::{Pace, Turn, USER_AGENT, Visits};
use crate::connection::Connection;
use crate::random::Random;
use crate::turns::Until;

const SCRIPT: &str = include_str!("wrk.lua");

/// How many requests each connection sends at the smallest size.
const FEWEST_REQUESTS: u32 = 2;

/// Visits on the load's core.
pub(super) struct Load {
    /// The seconds of a turn; 0 for the minimum of requests, without `wrk`.
    pub(super) seconds: u32,
    pub(super) core: u32,
}

impl Load {
    /// Runs a turn from the given line on. The result has no processor time.
    pub(super) fn run(&self, address: &str, visits: &Visits, pace: Pace, from: u32) -> Result<Turn> {
        let time = Duration::from_secs(self.seconds.into());
        match self.seconds {
            0 => self.by_hand(address, visits, pace, Until::Requests(FEWEST_REQUESTS)),
            // `wrk` connects and pauses before it measures, so it cannot measure connections.
            // Nor does it resume TLS sessions.
            _ if visits.is_closing && (pace == Pace::Modest || visits.tls.is_some()) => {
                self.by_hand(address, visits, pace, Until::Elapsed(time))
            }
            seconds => self.by_wrk(address, visits, pace, from, seconds),
        }
    }

    /// Runs a turn of `wrk`.
    fn by_wrk(&self, address: &str, visits: &Visits, pace: Pace, from: u32, seconds: u32) -> Result<Turn> {
        let script = visits.file.with_extension("lua");
        std::fs::write(&script, SCRIPT)?;
        let mut command = Command::new("taskset");
        command.args(["-c", &self.core.to_string(), "wrk", "-t", "1", "-c"]);
        command.arg(pace.connections().to_string()).arg(format!("-d{seconds}s")).args([
            "--timeout",
            "10s",
            "-s",
        ]);
        command.arg(&script).arg(url_of(address, visits)?);
        command.env("BENCH_PATHS", &visits.file).env("BENCH_HOST", visits.host);
        command
            .env("BENCH_USER_AGENT", USER_AGENT)
            .env("BENCH_CLOSE", u8::from(visits.is_closing).to_string());
        command.env("BENCH_FROM", from.to_string()).env("BENCH_THINK_MS", pace.think().to_string());
        let output = command.output().context("cannot start `taskset`")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "wrk: {printed}{errors}");
        result(&printed).with_context(|| format!("no result in wrk's output: {printed}{errors}"))
    }

    /// Runs a turn of threads. Each thread waits for every answer.
    fn by_hand(&self, address: &str, visits: &Visits, pace: Pace, until: Until) -> Result<Turn> {
        let requests = visits.requests()?;
        let connections = pace.connections();
        let start = Barrier::new(usize::try_from(connections)?);
        let began = Instant::now();
        let outcomes = thread::scope(|scope| {
            let visitors: Vec<_> = (0..connections)
                .map(|number| {
                    let (start, requests) = (&start, &requests);
                    scope.spawn(move || {
                        let pinned = machine::pin_this_thread(self.core);
                        start.wait();
                        pinned?;
                        Ok(visit(address, requests, visits, pace, until, number))
                    })
                })
                .collect();
            let outcomes = visitors.into_iter().map(thread::ScopedJoinHandle::join);
            outcomes.map(|outcome| outcome.map_err(|_| anyhow!("a visitor has panicked"))?).collect()
        });
        let outcomes: Result<Vec<Outcome>> = outcomes;
        let elapsed = began.elapsed();
        let mut all = Outcome::default();
        for outcome in outcomes? {
            all.times.extend(outcome.times);
            all.refused += outcome.refused;
            all.unanswered += outcome.unanswered;
        }
        all.times.sort_unstable();
        let percentile =
            |part: usize| all.times.get(all.times.len() * part / 1_000).copied().unwrap_or_default();
        Ok(Turn {
            requests: u64::try_from(all.times.len())?,
            elapsed,
            refused: all.refused,
            unanswered: all.unanswered,
            p50: percentile(500),
            p99: percentile(990),
            p999: percentile(999),
            work: Duration::ZERO,
            others: 0.0,
        })
    }
}

/// The URL for `wrk`. Over TLS it has the name of the certificate instead of the address.
fn url_of(address: &str, visits: &Visits) -> Result<String> {
    if visits.tls.is_none() {
        return Ok(format!("http://{address}"));
    }
    let (_, port) = address.rsplit_once(':').context("an address without a port")?;
    Ok(format!("https://localhost:{port}"))
}

/// The results of one visitor.
#[derive(Default)]
struct Outcome {
    times: Vec<Duration>,
    refused: u64,
    unanswered: u64,
}

fn visit(
    address: &str,
    requests: &[Vec<u8>],
    visits: &Visits,
    pace: Pace,
    until: Until,
    number: u32,
) -> Outcome {
    let mut random = Random::of_worker(number.into());
    let mut outcome = Outcome::default();
    let mut kept = None;
    let began = Instant::now();
    for sent in 0_u32.. {
        let goes_on = match until {
            Until::Elapsed(time) => began.elapsed() < time,
            Until::Requests(count) => sent < count,
        };
        let any = usize::try_from(random.next() % u64::try_from(requests.len()).unwrap_or(u64::MAX));
        let (true, Some(request)) = (goes_on, any.ok().and_then(|any| requests.get(any))) else { break };
        if pace.think() > 0 {
            let half = pace.think() * 500;
            thread::sleep(Duration::from_micros(u64::from(half + random.below(2 * half))));
        }
        let asked = Instant::now();
        let answer = ask(address, request, visits, &mut kept);
        match answer {
            Ok(status) => {
                outcome.times.push(asked.elapsed());
                outcome.refused += u64::from(status >= 400);
            }
            Err(_) => outcome.unanswered += 1,
        }
    }
    outcome
}

/// Sends a request, and returns the status of its answer.
fn ask(address: &str, request: &[u8], visits: &Visits, kept: &mut Option<Connection>) -> Result<u16> {
    let open = || Connection::open_by(address, visits.tls.as_ref());
    if visits.is_closing {
        return open()?.status(request);
    }
    let mut connection = match kept.take() {
        Some(connection) => connection,
        None => open()?,
    };
    let status = connection.exchange(request)?.status;
    *kept = Some(connection);
    Ok(status)
}

/// Parses the last line of the script's output.
fn result(printed: &str) -> Option<Turn> {
    let line = printed.lines().find_map(|line| line.strip_prefix("RESULT "))?;
    let mut numbers = line.split(' ').map(|number| number.parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    let (requests, elapsed, refused, unanswered) = (next()?, next()?, next()?, next()?);
    let mut time = || next().map(Duration::from_micros);
    Some(Turn {
        requests,
        elapsed: Duration::from_micros(elapsed),
        refused,
        unanswered,
        p50: time()?,
        p99: time()?,
        p999: time()?,
        work: Duration::ZERO,
        others: 0.0,
    })
}

/// Whether `wrk` is installed.
pub(super) fn has_wrk() -> bool {
    is_installed("wrk")
}

/// Whether a program is installed.
pub(super) fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    // On Debian nginx is not on the path of users.
    let further = ["/usr/sbin", "/usr/local/sbin"].map(Path::new);
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
        || further.iter().any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_line_of_wrk_is_parsed() {
        let said = "Running 1s test\nRESULT 5000 1000100 17 3 70 210 900\n";
        let turn = result(said).unwrap();
        assert_eq!((turn.requests, turn.elapsed), (5_000, Duration::from_micros(1_000_100)));
        assert_eq!((turn.refused, turn.unanswered), (17, 3));
        assert_eq!([turn.p50, turn.p99, turn.p999], [70, 210, 900].map(Duration::from_micros));
        assert_eq!(result("Running 1s test\n"), None);
    }
}
