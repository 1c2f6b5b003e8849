//! Prints how long searches take with and without the index, and a plain page for comparison:
//! `cargo run --release -p signpost-postgres --example searches [links] [rounds]`.
//!
//! It also prints the cost of the index: the job's time, its disk space, its write-ahead log, and the time that the triggers
//! add to an insertion of 100 links.

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

use std::time::{Duration, Instant};

use signpost_app::ports::{LinkReads, Store};
use signpost_domain::{AccountId, Id, Link, LinkFilter, LinkKind, PageLimit, SearchText};
use signpost_port_contracts::samples;
use signpost_postgres::{PostgresOptions, PostgresStore, migrate};
use signpost_test_servers::postgres::{PostgresDatabase, shared};

const ACCOUNT: &str = "01000000-0000-0000-0000-000000000001";

/// Links with texts of some 130 characters. Words occur in names at fixed rates.
fn fill(database: &PostgresDatabase, links: u64) {
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at, links_count) \
         VALUES ('{ACCOUNT}', 'a@example.com', 'a@example.com', 'agency', '2026-01-01', {links}); \
         ALTER TABLE links DISABLE TRIGGER links_search_inserted; \
         WITH n AS (SELECT n, md5(n::text) AS h FROM generate_series(1, {links}) AS n), \
         t AS (SELECT n, 'Newsletter ' || (ARRAY['spring', 'summer', 'autumn', 'winter'])[n % 4 + 1] \
             || CASE WHEN n % 10 = 3 THEN ' tenthly' ELSE '' END || CASE WHEN n % 100 = 7 THEN ' hundredth' ELSE '' END \
             || CASE WHEN n % 1000 = 9 THEN ' thousandfold' ELSE '' END \
             || CASE WHEN n % ({links} / 6) = 11 THEN ' xylophone quiz' ELSE '' END \
             || CASE WHEN n <= 10000 THEN ' archived' ELSE '' END \
             || CASE WHEN n % ({links} / 14) = 13 THEN ' winters letter' ELSE '' END AS name, \
             'https://www.example.com/shop/products/' || h || '?utm_source=newsletter&utm_campaign=' || n % 97 AS target \
             FROM n) \
         INSERT INTO links (id, account_id, kind, name, host, slug, is_active, analytics_enabled, created_at, \
            updated_at, target_url, antibot_enabled, geo_blocklist, search_key) \
         SELECT lpad(to_hex(n), 32, '0')::uuid, '{ACCOUNT}', 1, name, '', 'link-' || n, true, true, '2026-01-01', \
            '2026-01-01', target, false, '', lower(name) || chr(31) || 'link-' || n || chr(31) || target FROM t; \
         ALTER TABLE links ENABLE TRIGGER links_search_inserted"
    ));
    database.run("VACUUM ANALYZE");
}

/// The median time of several pages of 25, and how many links the page has.
async fn median(
    store: &PostgresStore,
    account: AccountId,
    filter: &LinkFilter,
    rounds: usize,
) -> (Duration, usize) {
    let mut times = Vec::new();
    let mut items = 0;
    for _ in 0..rounds {
        let began = Instant::now();
        let limit = PageLimit::new(25).unwrap();
        let page = store.links(account, LinkKind::Redirect, filter, limit, None).await.unwrap();
        times.push(began.elapsed());
        items = page.items.len();
    }
    times.sort();
    (times[times.len() / 2], items)
}

/// The median time to insert 100 links.
async fn insertion(store: &PostgresStore, account: AccountId, rounds: usize, what: &str) -> Duration {
    let mut times = Vec::new();
    for round in 0..rounds {
        let links: Vec<Link> =
            (0..100).map(|number| samples::redirect(&format!("{what}-{round}-{number}")).into()).collect();
        let mut work = store.begin().await.unwrap();
        let began = Instant::now();
        work.insert_links(account, &links, u64::MAX >> 1).await.unwrap();
        work.commit().await.unwrap();
        times.push(began.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

fn number(database: &PostgresDatabase, expression: &str) -> f64 {
    database.query(&format!("SELECT {expression}")).trim().parse().unwrap()
}

fn log_position(database: &PostgresDatabase) -> f64 {
    number(database, "pg_current_wal_lsn() - '0/0'")
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>().unwrap());
    let links = arguments.next().unwrap_or(1_000_000);
    let rounds = arguments.next().unwrap_or(15);
    let database = shared("crates/postgres").database(None);
    migrate(&database.url()).await.unwrap();
    fill(&database, links as u64);
    let mut bytes = [0; 16];
    (bytes[0], bytes[15]) = (1, 1);
    let account = Id::from_bytes(bytes);
    let options = PostgresOptions::with_time_limit(Duration::from_mins(1));
    let store = PostgresStore::connect(&database.url(), &options).await.unwrap();

    let (began, log) = (Instant::now(), log_position(&database));
    // With one account, each step does one task until no task is left.
    let mut steps = 0;
    while store.tend_search_index(None).await.unwrap().has_worked {
        steps += 1;
    }
    let a_link = (log_position(&database) - log) / links as f64;
    println!("index: {steps} steps, {:.1?}, {a_link:.0} bytes of log a link", began.elapsed());
    for table in ["links", "search_segments", "search_buckets"] {
        let size = number(&database, &format!("pg_total_relation_size('{table}')")) / links as f64;
        println!("{table}: {size:.0} bytes a link");
    }
    database.run("VACUUM ANALYZE search_segments; VACUUM ANALYZE search_buckets");

    let plain = LinkFilter::default();
    let texts = [
        ("all match", "newsletter"),
        ("10 %", "tenthly"),
        ("1 %", "hundredth"),
        ("0.1 %", "thousandfold"),
        ("6 matches, rare pieces", "xylophone"),
        ("no match, rare pieces", "zyzzyva qux"),
        ("10,000 matches, all the oldest", "archived"),
        ("one match, a number", "link-123456"),
        ("14 matches, common pieces", "winters letter"),
        ("no match, common pieces", "springs letter"),
        ("no match, pieces of all links", "comwww.example.com/shop/products"),
        ("no match, three common words", "summer campaign product"),
        ("one match, a hash", "e10adc3949ba59abbe56e057f20f883e"),
        ("3 characters, all", "www"),
        ("3 characters of a hash", "f3e"),
        ("no match, 3 characters", "zzq"),
    ];
    for (what, text) in texts {
        let index = LinkFilter { search: Some(SearchText::parse(text).unwrap()), ..LinkFilter::default() };
        let walk = LinkFilter { is_active: Some(true), ..index.clone() };
        median(&store, account, &index, 3).await;
        let (of_page, _) = median(&store, account, &plain, rounds).await;
        let (of_walk, expected) = median(&store, account, &walk, 3).await;
        let (of_index, found) = median(&store, account, &index, rounds).await;
        assert_eq!(found, expected, "{text}");
        let ratio = of_index.as_secs_f64() / of_page.as_secs_f64();
        println!(
            "{what}: {found} found, page {of_page:.2?}, walk {of_walk:.2?}, index {of_index:.2?} ({ratio:.0}x)"
        );
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..6 {
        let on_or_off = if round % 2 == 0 { "ENABLE" } else { "DISABLE" };
        database.run(&format!("ALTER TABLE links {on_or_off} TRIGGER links_search_inserted"));
        let time = insertion(&store, account, 40, &format!("r{round}")).await;
        if round % 2 == 0 { &mut with } else { &mut without }.push(time);
    }
    println!("insertion of 100 links: {with:.2?} with triggers, {without:.2?} without");
}
