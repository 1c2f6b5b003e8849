//! Prints how many look-ups for visitors the store makes in a second and what they cost, beside `pgbench` with 8 clients and
//! a similar look-up: `cargo run --release -p signpost-postgres --example visits [links] [callers] [seconds]`.
//!
//! The two run alternately, because the machine may be busy. It needs PostgreSQL with pgbench.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that people run by hand"
)]
#![allow(clippy::disallowed_methods, reason = "the store itself is measured")]

use std::io::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use signpost_app::ports::LinkReads;
use signpost_domain::{Address, Site, Slug};
use signpost_postgres::{PostgresOptions, PostgresStore, migrate};
use signpost_test_servers::postgres::{PostgresDatabase, shared};

const ROUNDS: u32 = 3;

/// The scheduler ticks per second, the unit of `/proc`.
const TICKS: f64 = 100.0;

fn fill(database: &PostgresDatabase, links: u64) {
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at, links_count) \
         VALUES ('{0}', 'a@example.com', 'a@example.com', 'agency', '2026-01-01', {links}); \
         INSERT INTO links (id, account_id, kind, name, host, slug, is_active, analytics_enabled, created_at, \
            updated_at, target_url, antibot_enabled, geo_blocklist, search_key) \
         SELECT lpad(to_hex(n), 32, '0')::uuid, '{0}', 1, 'a name', '', 'link-' || n, true, true, '2026-01-01', \
            '2026-01-01', 'https://example.com/a/target/of/sixty/bytes/or/so/' || n, false, '', 'a name' \
         FROM generate_series(1, {links}) AS n",
        "01000000-0000-0000-0000-000000000001"
    ));
    database.run("VACUUM ANALYZE");
}

/// The CPU time that processes have used, in seconds.
fn used(processes: &[String]) -> f64 {
    let ticks = processes.iter().filter_map(|process| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        Some(fields[11].parse::<f64>().ok()? + fields[12].parse::<f64>().ok()?)
    });
    ticks.sum::<f64>() / TICKS
}

/// Look-ups per second, and the CPU time in microseconds of each, here and at the server.
async fn of_store(
    database: &PostgresDatabase,
    store: &Arc<PostgresStore>,
    links: u64,
    callers: u64,
    time: Duration,
) -> f64 {
    let backends = database.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'signpost'");
    let backends: Vec<String> = backends.lines().map(|line| line.trim().to_owned()).collect();
    let own = ["self".to_owned()];
    let (own_before, server_before) = (used(&own), used(&backends));
    let began = Instant::now();
    let done = Arc::new(AtomicU64::new(0));
    let tasks = (0..callers).map(|caller| {
        let (store, done) = (Arc::clone(store), Arc::clone(&done));
        tokio::spawn(async move {
            let mut number = caller;
            while began.elapsed() < time {
                number =
                    number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let slug = Slug::parse(&format!("link-{}", (number >> 33) % links + 1)).unwrap();
                let address = Address { site: Site::System, slug: Some(slug) };
                assert!(store.published_link(&address).await.unwrap().is_some());
                done.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }
    let done = done.load(Ordering::Relaxed) as f64;
    let rate = done / began.elapsed().as_secs_f64();
    let cost = |seconds: f64| seconds * 1e6 / done;
    println!(
        "store, {callers:>3} callers: {rate:>7.0}/s, {:>5.1} µs here, {:>5.1} µs at the server",
        cost(used(&own) - own_before),
        cost(used(&backends) - server_before)
    );
    rate
}

/// The transactions per second of pgbench.
fn of_pgbench(database: &PostgresDatabase, links: u64, time: Duration) -> f64 {
    let mut script = tempfile::NamedTempFile::new().unwrap();
    writeln!(
        script,
        "\\set n random(1, {links})\n\
         SELECT l.id, l.account_id, l.kind, l.name, l.target_url, l.is_active, a.suspended_at IS NOT NULL, \
         l.analytics_enabled, l.antibot_enabled, l.geo_blocklist, l.pixel_ids, l.page \
         FROM links l JOIN accounts a ON a.id = l.account_id WHERE l.host = '' AND l.slug = 'link-' || :n::text;"
    )
    .unwrap();
    let seconds = time.as_secs().max(1).to_string();
    let output = Command::new("pgbench")
        .args(["-n", "-M", "prepared", "-c", "8", "-j", "1", "-T", &seconds, "-f"])
        .arg(script.path())
        .arg(database.url())
        .env("PGOPTIONS", "-c plan_cache_mode=force_generic_plan")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    let rate: f64 = rate.unwrap_or_else(|| panic!("{output:?}"));
    println!("pgbench, 8 clients: {rate:>7.0}/s");
    rate
}

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    let argument = |place, default: u64| {
        std::env::args().nth(place).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (links, callers) = (argument(1, 1_000_000), argument(2, 64));
    let time = Duration::from_secs(argument(3, 5));
    let database = shared("this program").database(None);
    migrate(&database.url()).await.unwrap();
    fill(&database, links);
    let options = PostgresOptions::default();
    let store = Arc::new(PostgresStore::connect(&database.url(), &options).await.unwrap());
    // Warm-up: opens all connections and reads the table into memory.
    for callers in [1, callers] {
        of_store(&database, &store, links, callers, Duration::from_secs(1)).await;
    }
    println!("---");
    for _ in 0..ROUNDS {
        of_store(&database, &store, links, 1, time).await;
        let rate = of_store(&database, &store, links, callers, time).await;
        println!("{:.2} of pgbench", rate / of_pgbench(&database, links, time));
    }
}
