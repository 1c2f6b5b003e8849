//! Measures the time to derive a click's facts: `cargo bench -p signpost-enrichment`.
//!
//! Nineteen of twenty clicks have an agent, referrer, query and language seen before; the twentieth has new
//! ones. It measures processor time, which other work on the machine hardly affects.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use signpost_enrichment::{Bots, Enricher, Sent, Sources};

const ROUNDS: usize = 7;
const CLICKS: u32 = 100_000;
const JUDGED: usize = 100_000;

/// The unit in which Linux counts processor time.
const TICK: Duration = Duration::from_millis(10);

const AGENTS: &str = include_str!("../tests/enrichment/agents/browsers.txt");

const REFERRERS: [&str; 6] = [
    "https://www.google.com/",
    "https://l.facebook.com/l.php?u=https%3A%2F%2Fgo.example",
    "",
    "https://t.co/abcdefg",
    "android-app://com.slack/",
    "https://news.example.com/2026/11/22/a-longer-article?page=2",
];

const QUERIES: [&str; 4] =
    ["", "utm_source=newsletter&utm_medium=email&utm_campaign=Autumn+sale", "src=qr", "gclid=Cj0KCQiA"];

const LANGUAGES: [&str; 3] = ["de-AT,de;q=0.9,en;q=0.5", "en-US,en;q=0.9", "fr"];

/// The values of one click.
struct Click {
    user_agent: String,
    referrer: String,
    query: String,
    accept_language: String,
    address: IpAddr,
}

fn main() {
    let memory_before = resident_kib();
    let begin = Instant::now();
    let mut enricher = Enricher::new(Sources::default());
    let first = clicks(1, 0);
    enrich(&mut enricher, &first);
    println!("first click, with the rules: {:?}, {} KiB", begin.elapsed(), resident_kib() - memory_before);
    for (name, every) in
        [("95 % seen before", Some(20)), ("all seen before", None), ("none seen before", Some(1))]
    {
        let clicks = if every == Some(1) { CLICKS / 10 } else { CLICKS };
        let mut rounds: Vec<_> = (0..ROUNDS)
            .map(|round| {
                let clicks = self::clicks(clicks, every.map_or(0, |every| every * 1_000 + round));
                enrich(&mut enricher, &clicks)
            })
            .collect();
        rounds.sort();
        let [fastest, .., slowest] = rounds.as_slice() else { return };
        let median = rounds.get(ROUNDS / 2).unwrap();
        println!("a click, {name}: median {median:?}, least {fastest:?}, most {slowest:?}");
    }
    judge_bots();
}

/// Measures whether a visitor is a bot, which visits of redirects with pixels wait for.
fn judge_bots() {
    let bots = Bots::new(Sources::default());
    bots.warm_up();
    let browsers: Vec<_> = AGENTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    // Parts of many patterns, which the filter before the patterns lets through.
    let hostile = "feed.rss/search.web.link.news.crawl/1 site.image.http/ agent.check.page.data/ ".repeat(7);
    for (name, agents) in [("a browser", browsers), ("a hostile agent of 512 bytes", vec![hostile.as_str()])]
    {
        let begin = processor_time();
        for number in 0..JUDGED {
            let agent = agents.get(number % agents.len()).copied().unwrap_or_default();
            black_box(bots.is_bot(black_box(agent.as_bytes()), b""));
        }
        let each = processor_time().saturating_sub(begin) / u32::try_from(JUDGED).unwrap();
        println!("whether {name} is a bot's: {each:?}");
    }
}

/// Builds clicks. Every (`rarity` / 1,000)th has values that no other click has; none if that is 0.
fn clicks(count: u32, rarity: usize) -> Vec<Click> {
    let agents: Vec<_> = AGENTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let pick =
        |from: &[&str], number: usize| from.get(number % from.len()).copied().unwrap_or_default().to_owned();
    let (every, round) = (rarity / 1_000, rarity % 1_000);
    (0..count)
        .map(|number| {
            let index = usize::try_from(number).unwrap();
            let mut click = Click {
                user_agent: pick(&agents, index * 7),
                referrer: pick(&REFERRERS, index / 3),
                query: pick(&QUERIES, index / 5),
                accept_language: pick(&LANGUAGES, index),
                address: Ipv4Addr::from_bits(number.wrapping_mul(2_654_435_761)).into(),
            };
            if every > 0 && index.is_multiple_of(every) {
                let mark = format!("{every}-{round}-{number}");
                click.user_agent = format!("{} App/{mark}", click.user_agent);
                click.referrer = format!("https://site-{mark}.example/");
                click.query = format!("utm_source=source-{mark}&utm_medium=link");
                click.accept_language = format!("de,en;q=0.9,x-{mark}");
            }
            click
        })
        .collect()
}

/// The mean time per click.
fn enrich(enricher: &mut Enricher, clicks: &[Click]) -> Duration {
    let begin = processor_time();
    for Click { user_agent, referrer, query, accept_language, address } in clicks {
        let sent = Sent {
            user_agent: user_agent.as_bytes(),
            referrer: referrer.as_bytes(),
            accept_language: accept_language.as_bytes(),
            query: query.as_bytes(),
            purpose: b"",
            address: *address,
        };
        black_box(enricher.facts(black_box(&sent), None));
    }
    processor_time().saturating_sub(begin) / u32::try_from(clicks.len()).unwrap()
}

/// The processor time of all threads of this process.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    // Fields 14 and 15 of the line: time in user mode and in kernel mode.
    let ticks = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u32>().unwrap());
    TICK * ticks.sum::<u32>()
}

/// The resident memory of this process.
fn resident_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
