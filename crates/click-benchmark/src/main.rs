//! Compares the costs of storing and querying clicks in both stores with one row for each click in PostgreSQL, as a table
//! of ratios. `cargo xtask bench analytics` builds and runs it.
//!
//! Every report must equal the result from the rows, so that no fast answer is wrong.

mod cases;
mod machine;
mod rows;
mod stores;
mod table;

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use signpost_domain::{AccountId, Timestamp};
use signpost_port_contracts::SyntheticClicks;
use signpost_test_servers::postgres::{PostgresServer, Setup};

use crate::rows::Rows;
use crate::stores::Subject;
use crate::table::Table;

/// Compares segments and digests with rows and GROUP BY.
#[derive(Debug, clap::Parser)]
struct Options {
    /// Clicks of the hot link in its year.
    #[arg(long, default_value_t = 10_000_000)]
    hot: u64,
    /// Clicks of an account in its month, on a hundred thousand links.
    #[arg(long, default_value_t = 5_000_000)]
    tail: u64,
    /// Repetitions of each query; the median counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds for which clicks are drained; 0 for the minimum of clicks.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

/// The clicks of the benchmark.
pub(crate) struct Scenery {
    pub(crate) hot: SyntheticClicks,
    pub(crate) tail: SyntheticClicks,
}

impl Scenery {
    fn new(options: &Options) -> Result<Self> {
        let first = Timestamp::from_unix_millis(1_735_689_600_000).context("2025-01-01")?;
        let of = |account: u8, links, clicks, days| SyntheticClicks {
            account: AccountId::from_bytes([account; 16]),
            links,
            clicks,
            first,
            days,
        };
        Ok(Self { hot: of(1, 1, options.hot, 365), tail: of(2, 100_000, options.tail, 31) })
    }

    /// Long after the last click.
    fn end(&self) -> Timestamp {
        self.hot.first.plus(Duration::from_hours(24 * 400))
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    let scenery = Scenery::new(&options)?;
    let mut output = std::io::stdout().lock();
    let server = PostgresServer::try_start(&Setup { is_durable: true, ..Setup::default() });
    let server = server.map_err(|absence| anyhow::anyhow!("{absence:?}"))?;
    let mut table = Table::new();
    let rows = Rows::load(&server, &scenery)?;
    let drained = rows.drain(options.seconds)?;
    let mut subjects = [Subject::postgres(&server).await?, Subject::sqlite()?];
    for subject in &mut subjects {
        let ours = subject.drain(&scenery.tail, Duration::from_secs(options.seconds)).await?;
        table.ratio(
            &format!("{}: clicks drained a second", subject.name()),
            drained,
            ours,
            Some((">=", 3.0)),
        );
        subject.load(&scenery).await?;
        let upkeep = subject.keep_up(scenery.end(), options.hot + options.tail).await?;
        table.figure(
            &format!("{}: µs of CPU a click from inbox to sealed", subject.name()),
            upkeep * 1e6,
            Some(("<=", 4.0)),
        );
    }
    for subject in &subjects {
        let Some([hot, tail]) = subject.bytes_a_click(&scenery)? else { continue };
        table.figure("bytes a sealed click of a hot link", hot, Some(("<=", 8.0)));
        table.figure("bytes a sealed click of many links", tail, Some(("<=", 13.0)));
    }
    for case in cases::all(&scenery)? {
        let (reference, expected) = rows.ask(&case, options.rounds)?;
        let mut times = Vec::new();
        for subject in &subjects {
            let asked = subject.ask(&case, options.rounds).await?;
            cases::compare(&case, &asked.report, &expected)?;
            let goal = case.goal.map(|goal| ("<=", goal));
            table.times(&format!("{}: {}", subject.name(), case.name), reference, asked.time, goal);
            table.figure(
                &format!("{}: {}, MiB of memory", subject.name(), case.name),
                asked.mebibytes,
                Some(("<=", 64.0)),
            );
            times.push(asked.time);
        }
        if let [postgres, sqlite] = times.as_slice() {
            table.times(
                &format!("{}, SQLite to PostgreSQL", case.name),
                *postgres,
                *sqlite,
                Some(("<=", 1.1)),
            );
        }
    }
    write!(output, "{}", table.shown(&format!("{} and {} clicks", options.hot, options.tail)))?;
    Ok(())
}
