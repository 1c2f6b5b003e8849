//! The cost of reading the first page of 25 redirects from the SQLite store: `cargo bench -p signpost-sqlite`.
//!
//! The file is cached, so the cost is SQLite's statement and the conversion of rows to domain values. It reports CPU time,
//! which also compares across busy machines.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "the store itself is measured, without use cases")]

use std::time::Duration;

use signpost_app::ports::{LinkReads, Store};
use signpost_domain::{Link, LinkFilter, LinkKind, PageLimit, Redirect};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

const ROUNDS: usize = 7;
const PAGES: u32 = 3_000;

/// The unit of CPU time on Linux.
const TICK: Duration = Duration::from_millis(10);

#[tokio::main]
async fn main() {
    for (name, host) in
        [("ASCII hosts", "www.example.com"), ("internationalised hosts", "www.bücher.example")]
    {
        let mut rounds = rounds(host).await;
        rounds.sort();
        let [fastest, .., slowest] = rounds.as_slice() else { return };
        let median = rounds.get(ROUNDS / 2).unwrap();
        println!("a page of 25, {name}: median {median:?}, least {fastest:?}, most {slowest:?}");
    }
}

/// The mean time of a page in each round.
async fn rounds(host: &str) -> Vec<Duration> {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(folder.path().join("bench.db")).unwrap();
    let store = SqliteStore::open(&file, &SqliteOptions::default()).unwrap();
    let account = samples::account();
    let links: Vec<Link> = (0..100).map(|number| redirect(host, number).into()).collect();
    let mut work = store.begin().await.unwrap();
    work.insert_account(&account).await.unwrap();
    work.insert_links(account.id, &links, 1_000).await.unwrap();
    work.commit().await.unwrap();
    let (filter, limit) = (LinkFilter::default(), PageLimit::default());
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = processor_time();
        for _ in 0..PAGES {
            let page = store.links(account.id, LinkKind::Redirect, &filter, limit, None).await.unwrap();
            assert_eq!(page.items.len(), 25);
        }
        rounds.push(processor_time().saturating_sub(begin) / PAGES);
    }
    rounds
}

/// The CPU time of all threads of this process so far.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    // Fields 14 and 15 of the line: user time and system time.
    let ticks = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u32>().unwrap());
    TICK * ticks.sum::<u32>()
}

fn redirect(host: &str, number: u8) -> Redirect {
    let target =
        format!("https://{host}/products/autumn?utm_source=newsletter&utm_medium=mail&item={number}");
    Redirect {
        note: Some(samples::note("Printed on the autumn flyer")),
        ..samples::redirect(&format!("autumn-{number}"))
    }
    .with(|content| content.target_url = samples::target(&target))
}
