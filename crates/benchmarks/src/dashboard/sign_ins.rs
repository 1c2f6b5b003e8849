//! The API, while many people behind a proxy sign in at once. In one crowd everybody gets a place to be hashed; in the other,
//! of 200, most are refused.
//!
//! Each crowd is followed by a calm turn of as many requests to the API. The requests follow each other at a pace on one
//! connection.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use super::LIST;
use super::person::Person;
use crate::connection::{ApiClient, Connection};
use crate::edge::scenery::create;
use crate::figure::{Figure, Goal};
use signpost_xtask::program::Program;

/// How many people sign in at once. Of strangers, two are hashed and 24 wait; all others are refused.
const CROWDS: [usize; 2] = [26, 200];

/// The interval between two requests to the API.
const PAUSE: Duration = Duration::from_millis(1);

/// The goal of the ratio of the 99th percentiles.
const GOAL: Goal = Goal::AtMost(1.2);

/// The outcome of the sign-ins of a round.
struct Crowd {
    signed_in: f64,
    refused: f64,
    took: Duration,
}

/// The times of the API in a turn, fastest first.
struct Times(Vec<Duration>);

/// A turn with sign-ins, and a calm one.
struct Round {
    crowd: Crowd,
    busy: Times,
    calm: Times,
}

/// Measures the API in turns, and prints the medians of all rounds.
pub(super) fn run(executable: &Path, rounds: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(executable, folder.path())?;
    let client = ApiClient::new(&program, &program.key);
    create(&client, 300, 1)?;
    let person = Person::of_the_first_start(&program)?;
    let mut api = client.connect()?;
    let request = client.request("GET", LIST, "");
    let mut measured = CROWDS.map(|people| (people, Vec::new()));
    for round in 0..=rounds {
        for (people, rounds) in &mut measured {
            let (crowd, busy) = signing_in(&person, *people, &mut api, &request)?;
            let mut left = busy.0.len();
            let calm = times(&mut api, &request, || {
                left = left.saturating_sub(1);
                left == 0
            })?;
            // The first round warms up.
            if round > 0 {
                rounds.push(Round { crowd, busy, calm });
            }
        }
    }
    program.stop()?;
    measured.iter().try_for_each(|(people, rounds)| print(*people, rounds))
}

/// Sends all sign-ins at once, and measures the API until the last of them is answered.
fn signing_in(
    person: &Person,
    people: usize,
    api: &mut Connection,
    request: &[u8],
) -> Result<(Crowd, Times)> {
    let mut crowd = (1..=people)
        // Everybody has an address, because attempts from one address wait for each other.
        .map(|number| Ok((person.connect()?, person.signing_in(&format!("192.0.2.{number}")))))
        .collect::<Result<Vec<_>>>()?;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let answered = scope.spawn(|| {
            let answered = answers(&mut crowd);
            is_over.store(true, Ordering::Relaxed);
            answered
        });
        let busy = times(api, request, || is_over.load(Ordering::Relaxed))?;
        Ok((answered.join().map_err(|_| anyhow!("the crowd has panicked"))??, busy))
    })
}

fn answers(crowd: &mut [(Connection, Vec<u8>)]) -> Result<Crowd> {
    let began = Instant::now();
    for (connection, request) in &mut *crowd {
        connection.ask(request)?;
    }
    let (mut signed_in, mut refused) = (0.0, 0.0);
    for (connection, _) in crowd {
        let answer = connection.receive()?;
        match answer.status {
            303 => signed_in += 1.0,
            503 => refused += 1.0,
            status => bail!("a sign-in was answered with {status}: {}", answer.head()),
        }
    }
    Ok(Crowd { signed_in, refused, took: began.elapsed() })
}

/// Sends requests at a pace until `is_over` after one of them.
fn times(api: &mut Connection, request: &[u8], mut is_over: impl FnMut() -> bool) -> Result<Times> {
    let mut times = Vec::new();
    loop {
        let began = Instant::now();
        api.send(request)?;
        times.push(began.elapsed());
        if is_over() {
            times.sort_unstable();
            return Ok(Times(times));
        }
        thread::sleep(PAUSE);
    }
}

impl Times {
    /// The time that this percentage of the requests does not exceed, in milliseconds.
    fn percentile(&self, percent: usize) -> f64 {
        let place = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }
}

fn print(people: usize, rounds: &[Round]) -> Result<()> {
    let median = |of: &dyn Fn(&Round) -> f64| Figure::of(rounds.iter().map(of).collect());
    let mut output = io::stdout().lock();
    let (signed_in, refused) = (median(&|round| round.crowd.signed_in), median(&|round| round.crowd.refused));
    let took = median(&|round| round.crowd.took.as_secs_f64() * 1e3).median;
    let requests: usize = rounds.iter().map(|round| round.busy.0.len()).sum();
    writeln!(
        output,
        "\n{people} sign-ins at once: {} succeed and {} get 503 in {took:.0} ms; {requests} requests in each column",
        signed_in.median, refused.median
    )?;
    writeln!(output, "{:<26}{:>12}{:>12}{:>8}{:>10}", LIST, "calm", "sign-ins", "ratio", "spread")?;
    for (name, percent, goal) in [("p50", 50, Goal::None), ("p99", 99, GOAL)] {
        let calm = median(&|round| round.calm.percentile(percent)).median;
        let busy = median(&|round| round.busy.percentile(percent)).median;
        let ratio = median(&|round| round.busy.percentile(percent) / round.calm.percentile(percent));
        let (goal, met) = goal.shown(ratio.median);
        let Figure { median: ratio, spread } = ratio;
        let spread = spread * 100.0;
        writeln!(output, "{name:<26}{calm:>9.3} ms{busy:>9.3} ms{ratio:>8.2}{spread:>8.0} %  {goal} {met}")?;
    }
    Ok(())
}
