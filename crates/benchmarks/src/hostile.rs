//! The costs of hostile clients: memory of the program and of its sockets, and the time of honest requests meanwhile. The costs
//! of floods follow in a second table.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use signpost_test_servers::hostile_clients::{
    Harm, HostileClients, memory_of, memory_of_sockets, raise_open_files, yield_to_all_others,
};

use super::connection::Connection;
use super::floods;
use signpost_xtask::program::{self, Profile, Program};

/// The pause between requests of an honest client.
const HONEST_PAUSE: Duration = Duration::from_millis(10);

/// The interval of memory measurements.
const LOOK: Duration = Duration::from_millis(100);

/// The number of clients of each kind that attack the metrics.
const FOR_METRICS: usize = 20;

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Number of clients of each kind, half of them at the API and half at the links.
    #[arg(long, default_value_t = 1_000)]
    clients: usize,
    /// Seconds that each kind attacks; 0 for one measurement of each.
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Another program to attack, for a comparison.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Only this kind of client.
    #[arg(long)]
    only: Option<String>,
    /// Number of visits of the largest flood; 0 for no floods.
    #[arg(long, default_value_t = 1_100_000)]
    visits: u64,
}

impl Options {
    /// The smallest run with every kind of client.
    pub(super) fn smallest(program: PathBuf) -> Self {
        Self { clients: 2, seconds: 0, program: Some(program), only: None, visits: 30 }
    }
}

/// Attacks the program with each kind of client, then with all kinds at once.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { clients, seconds, program, only, visits } = options;
    raise_open_files();
    let executable = match program {
        Some(program) => program.clone(),
        None => program::build(root, Profile::Release)?,
    };
    let time = Duration::from_secs(*seconds);
    let mut table = format!("{:<16}{:>12}{:>12}{:>12}", "clients", "memory", "peak", "sockets");
    for door in LISTENERS {
        write!(table, "{:>24}", format!("{door} p50/p99 ms"))?;
    }
    table.push('\n');
    let mut kinds: Vec<(String, Vec<Harm>)> = vec![(REFERENCE.to_owned(), Vec::new())];
    kinds.extend(Harm::ALL.map(|harm| (format!("{harm:?}"), vec![harm])));
    kinds.push(("held at once".to_owned(), HOLDING.to_vec()));
    kinds.push(("all at once".to_owned(), Harm::ALL.to_vec()));
    let is_asked_for = |name: &str| only.as_deref().is_none_or(|only| only == name || name == REFERENCE);
    for (name, harms) in kinds.into_iter().filter(|(name, _)| is_asked_for(name)) {
        // Start a new program for each attack, so that no attack affects a later one.
        let folder = tempfile::tempdir()?;
        let settings = ["--metrics-listen", "127.0.0.1:0", "--miss-throttle-per-minute", "0"];
        let program = Program::start_with(&executable, folder.path(), &settings)?;
        let measured = attack(&program, &harms, *clients, time)?;
        table.push_str(&measured.row(&name)?);
        program.stop()?;
    }
    if *visits > 0 && only.as_deref().is_none_or(|only| only == FLOODS) {
        let idle = clients.saturating_mul(IDLE_PER_CLIENT);
        let size = floods::Size { visits: *visits, idle, asking: time, rest: time };
        table.push('\n');
        table.push_str(&floods::run(&executable, size)?);
    }
    std::io::stdout().lock().write_all(table.as_bytes())?;
    Ok(())
}

/// The name by which only the floods are asked for.
const FLOODS: &str = "floods";

/// More connections than the program holds stay idle, if the clients are as many as usual.
const IDLE_PER_CLIENT: usize = 11;

/// The attacks that hold connections, without those that send as much as they can.
const HOLDING: [Harm; 4] = [Harm::NoReading, Harm::HalfHeads, Harm::HalfBodies, Harm::EndlessChunks];

/// The reference run, without hostile clients.
const REFERENCE: &str = "none";

const LISTENERS: [&str; 3] = ["api", "links", "metrics"];

struct Measured {
    before: usize,
    peak: usize,
    sockets: Option<usize>,
    honest: Vec<Honest>,
}

/// The results of an honest client.
#[derive(Default)]
struct Honest {
    times: Vec<Duration>,
    failures: usize,
}

fn attack(program: &Program, harms: &[Harm], clients: usize, time: Duration) -> Result<Measured> {
    let address = |text: &str| text.trim_start_matches("http://").parse::<SocketAddr>();
    let (api, links) = (address(&program.api)?, address(&program.links)?);
    let metrics = address(program.metrics.as_deref().context("no address of the metrics")?)?;
    let requests = [(api, "/health/live"), (links, "/missing"), (metrics, "/metrics")];
    let listeners = [api, links, metrics];
    let before = memory_of(program.pid());
    let is_over = AtomicBool::new(false);
    let watched = thread::scope(|scope| {
        let crowds: Vec<_> = harms
            .iter()
            .flat_map(|harm| {
                [(api, clients / 2), (links, clients / 2), (metrics, FOR_METRICS)]
                    .map(|(address, number)| HostileClients::begin(address, *harm, number))
            })
            .collect();
        let honest: Vec<_> = requests
            .map(|(address, path)| {
                let is_over = &is_over;
                scope.spawn(move || ask(address, path, is_over))
            })
            .into_iter()
            .collect();
        // A separate thread of low priority, because inspecting thousands of sockets takes time from the program.
        let watcher = scope.spawn(|| {
            yield_to_all_others();
            let begun = Instant::now();
            let (mut peak, mut sockets) = (before, None);
            loop {
                thread::sleep(LOOK);
                peak = peak.max(memory_of(program.pid()));
                sockets = sockets.max(memory_of_sockets(&listeners));
                if begun.elapsed() >= time {
                    return (peak, sockets);
                }
            }
        });
        let seen = watcher.join();
        is_over.store(true, Ordering::Relaxed);
        let honest = honest.into_iter().map(|client| client.join().unwrap_or_default()).collect();
        drop(crowds);
        seen.map(|seen| (seen, honest))
    });
    let ((peak, sockets), honest) =
        watched.map_err(|_| anyhow!("the thread that measures memory has panicked"))?;
    Ok(Measured { before, peak, sockets, honest })
}

/// Sends requests on new connections until the attack is over.
fn ask(address: SocketAddr, path: &str, is_over: &AtomicBool) -> Honest {
    let mut honest = Honest::default();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    while !is_over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let answered = Connection::open(&address.to_string())
            .and_then(|mut connection| connection.status(request.as_bytes()));
        match answered {
            Ok(200 | 404) => honest.times.push(begun.elapsed()),
            Ok(_) | Err(_) => honest.failures += 1,
        }
        thread::sleep(HONEST_PAUSE);
    }
    honest.times.sort_unstable();
    honest
}

impl Honest {
    fn percentile(&self, percent: usize) -> f64 {
        let position = self.times.len() * percent / 100;
        let time = self.times.get(position).or_else(|| self.times.last());
        time.map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
    }
}

impl Measured {
    fn row(&self, name: &str) -> Result<String> {
        let Self { before, peak, sockets, honest } = self;
        let mib = |bytes: usize| format!("{} MiB", bytes >> 20);
        let sockets = sockets.map_or_else(|| "unknown".to_owned(), mib);
        let mut row = format!("{name:<16}{:>12}{:>12}{sockets:>12}", mib(*before), mib(*peak));
        for client in honest {
            let refused = if client.failures > 0 { format!(" -{}", client.failures) } else { String::new() };
            let shown = format!("{:.2}/{:.2}{refused}", client.percentile(50), client.percentile(99));
            write!(row, "{shown:>24}")?;
        }
        row.push('\n');
        Ok(row)
    }
}
