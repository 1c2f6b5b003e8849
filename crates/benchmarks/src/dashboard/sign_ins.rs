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
use crate::latency::{self, CalmAndBusy, Latencies};
use signpost_xtask::program::Program;

/// How many people sign in at once. Of strangers, two are hashed and 24 wait; all others are refused.
const CROWDS: [usize; 2] = [26, 200];

/// The goal of the ratio of the 99th percentiles.
const GOAL: Goal = Goal::AtMost(1.2);

/// The outcome of the sign-ins of a round.
struct Crowd {
    signed_in: f64,
    refused: f64,
    took: Duration,
}

/// A turn with sign-ins, and a calm one.
struct Round {
    crowd: Crowd,
    times: CalmAndBusy,
}

/// Measures the API in turns, and prints the medians of all rounds.
pub(super) fn run(executable: &Path, rounds: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(executable, folder.path())?;
    let client = ApiClient::new(&program, &program.key);
    create(&client, 300, 1)?;
    let person = Person::of_the_first_start(&program)?;
    let mut api = client.connect()?;
    let request = vec![client.request("GET", LIST, "")];
    let mut measured = CROWDS.map(|people| (people, Vec::new()));
    for round in 0..=rounds {
        for (people, rounds) in &mut measured {
            let (crowd, busy) = signing_in(&person, *people, &mut api, &request)?;
            let calm = Latencies::of_count(&mut api, &request, busy.count())?;
            // The first round warms up.
            if round > 0 {
                rounds.push(Round { crowd, times: (calm, busy) });
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
    request: &[Vec<u8>],
) -> Result<(Crowd, Latencies)> {
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
        let busy = Latencies::of(api, request, || is_over.load(Ordering::Relaxed))?;
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

fn print(people: usize, rounds: &[Round]) -> Result<()> {
    let median = |of: &dyn Fn(&Round) -> f64| Figure::of(rounds.iter().map(of).collect());
    let mut output = io::stdout().lock();
    let (signed_in, refused) = (median(&|round| round.crowd.signed_in), median(&|round| round.crowd.refused));
    let took = median(&|round| round.crowd.took.as_secs_f64() * 1e3).median;
    let requests: usize = rounds.iter().map(|Round { times: (_, busy), .. }| busy.count()).sum();
    writeln!(
        output,
        "\n{people} sign-ins at once: {} succeed and {} get 503 in {took:.0} ms; {requests} times {LIST} in each column",
        signed_in.median, refused.median
    )?;
    writeln!(output, "{}", latency::head("sign-ins"))?;
    let pairs: Vec<CalmAndBusy> = rounds.iter().map(|round| round.times.clone()).collect();
    latency::rows(&pairs, GOAL).iter().try_for_each(|row| Ok(writeln!(output, "{row}")?))
}
