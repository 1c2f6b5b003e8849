//! `cargo xtask bench passwords`: visits and a sign-in, while strangers try passwords of links.
//!
//! Each try has an address of its own and one of many links, so that no limit of an address or a link refuses it: all are
//! hashed or find the pool full.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::json;

use crate::connection::{Api, Connection};
use crate::dashboard::person::Person;
use crate::figure::{Figure, Goal};
use crate::latency::{self, CalmAndBusy, Latencies};
use signpost_xtask::program::{Profile, Program};

/// How many links ask for a password.
const LINKS: u32 = 100;

/// The number of connections, each of which tries twice a second at most.
const CONNECTIONS: u32 = 100;

/// The interval between two tries of a connection.
const INTERVAL: Duration = Duration::from_millis(500);

/// The goal of the ratio of the 99th percentiles.
const GOAL: Goal = Goal::AtMost(1.3);

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// How many rounds are run.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// The seconds of each turn of a round.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// A program to measure instead of the one built from this checkout.
    #[arg(long)]
    program: Option<PathBuf>,
}

impl Options {
    /// The smallest run.
    pub(super) const fn smallest(program: PathBuf) -> Self {
        Self { rounds: 1, seconds: 0, program: Some(program) }
    }
}

/// The answers to the tries of a turn.
#[derive(Debug, Default)]
struct Tries {
    wrong: AtomicU32,
    busy: AtomicU32,
}

/// A turn with tries.
struct Turn {
    wrong: f64,
    busy: f64,
    took: Duration,
    /// The time of the sign-in, in milliseconds.
    sign_in: f64,
}

/// Measures visits of a plain link in turns, and prints the medians of all rounds.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { rounds, seconds, program } = options;
    let executable = crate::program_to_measure(root, program.as_deref(), Profile::Release)?;
    let folder = tempfile::tempdir()?;
    let program = Program::start_with(&executable, folder.path(), &["--trusted-proxies", "127.0.0.1"])?;
    let mut api = Api::connect(&program)?;
    let target = "https://example.com/somewhere/else";
    api.post("/v1/redirects", &json!({"name": "A link", "slug": "plain", "target_url": target}).to_string())?;
    for number in 0..LINKS {
        let slug = format!("locked{number}");
        let link = json!({"name": "A link", "slug": slug, "target_url": target, "password": "the right one"});
        api.post("/v1/redirects", &link.to_string())?;
    }
    let person = Person::of_the_first_start(&program)?;
    let mut visitor = Connection::open(&program.links)?;
    let visit = &[b"GET /plain HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()];
    let (mut pairs, mut turns) = (Vec::new(), Vec::new());
    for round in 0..=*rounds {
        let time = Duration::from_secs(*seconds);
        let strangers = Strangers { links: &program.links, turn: u32::try_from(round)?, time };
        let (turn, busy) = trying(strangers, &person, &mut visitor, visit)?;
        let calm = Latencies::of_count(&mut visitor, visit, busy.count())?;
        // The first round warms up.
        if round > 0 {
            pairs.push((calm, busy));
            turns.push(turn);
        }
    }
    program.stop()?;
    print(&pairs, &turns)
}

/// Those who try passwords in a turn.
#[derive(Clone, Copy)]
struct Strangers<'a> {
    /// The address of the listener.
    links: &'a str,
    /// The number of the turn.
    turn: u32,
    time: Duration,
}

/// Lets the strangers try passwords, and measures the visits and a sign-in meanwhile.
fn trying(
    strangers: Strangers<'_>,
    person: &Person,
    visitor: &mut Connection,
    visit: &[Vec<u8>],
) -> Result<(Turn, Latencies)> {
    let (tries, is_over) = (Tries::default(), AtomicBool::new(false));
    let began = Instant::now();
    thread::scope(|scope| {
        let trying: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                let tries = &tries;
                scope.spawn(move || stranger(strangers, number, began + strangers.time, tries))
            })
            .collect();
        let joined = scope.spawn(|| {
            // By then, every stranger has tried a password.
            thread::sleep(INTERVAL.min(strangers.time));
            let signed_in = sign_in(person);
            let mut answers = trying.into_iter().map(thread::ScopedJoinHandle::join);
            let outcome = answers
                .try_for_each(|outcome| outcome.unwrap_or_else(|_| Err(anyhow!("a stranger has panicked"))));
            is_over.store(true, Ordering::Relaxed);
            outcome.and(signed_in)
        });
        let latencies = Latencies::of(visitor, visit, || is_over.load(Ordering::Relaxed))?;
        let sign_in = joined.join().map_err(|_| anyhow!("the sign-in has panicked"))??;
        let count = |count: &AtomicU32| f64::from(count.load(Ordering::Relaxed));
        let turn =
            Turn { wrong: count(&tries.wrong), busy: count(&tries.busy), took: began.elapsed(), sign_in };
        Ok((turn, latencies))
    })
}

/// Signs in, and returns how long that took in milliseconds.
fn sign_in(person: &Person) -> Result<f64> {
    let began = Instant::now();
    person.sign_in().context("a sign-in meanwhile")?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Tries wrong passwords at a pace until the end, one at least.
fn stranger(strangers: Strangers<'_>, number: u32, end: Instant, tries: &Tries) -> Result<()> {
    let mut connection = Connection::open(strangers.links)?;
    // The first tries spread over the interval.
    let mut next = Instant::now() + INTERVAL * number / CONNECTIONS;
    for round in 0_u32.. {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        connection.ask(&try_of(strangers.turn, number, round))?;
        let answer = connection.receive()?;
        match answer.status {
            403 => tries.wrong.fetch_add(1, Ordering::Relaxed),
            503 => tries.busy.fetch_add(1, Ordering::Relaxed),
            status => bail!("a password was answered with {status}: {}", answer.head()),
        };
        next = (next + INTERVAL).max(Instant::now());
        if next >= end {
            break;
        }
    }
    Ok(())
}

/// A wrong password for a link, from an address that no other try has.
fn try_of(turn: u32, number: u32, round: u32) -> Vec<u8> {
    let [.., second] = turn.to_be_bytes();
    let [.., third, fourth] = (round * CONNECTIONS + number).to_be_bytes();
    let link = number % LINKS;
    let form = format!("password=wrong+{number}+{round}");
    format!(
        "POST /locked{link} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.{second}.{third}.{fourth}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    )
    .into_bytes()
}

fn print(pairs: &[CalmAndBusy], turns: &[Turn]) -> Result<()> {
    let median = |of: &dyn Fn(&Turn) -> f64| Figure::of(turns.iter().map(of).collect()).median;
    let a_second = |of: fn(&Turn) -> f64| median(&|turn| of(turn) / turn.took.as_secs_f64());
    let visits: usize = pairs.iter().map(|(_, busy)| busy.count()).sum();
    ensure!(visits > 0, "no visits");
    let mut output = io::stdout().lock();
    writeln!(
        output,
        "\n{:.0} wrong passwords a second are hashed and {:.0} get 503; a sign-in takes {:.0} ms; {visits} visits of a plain \
         link in each column",
        a_second(|turn| turn.wrong),
        a_second(|turn| turn.busy),
        median(&|turn| turn.sign_in),
    )?;
    writeln!(output, "{}", latency::head("passwords"))?;
    latency::rows(pairs, GOAL).iter().try_for_each(|row| Ok(writeln!(output, "{row}")?))
}
