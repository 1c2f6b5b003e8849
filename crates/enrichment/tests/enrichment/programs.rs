//! Agents that count as bots (D48).

use std::net::Ipv4Addr;

use signpost_enrichment::{Bots, Enricher, Sent, Sources};

/// Agents of people's browsers, one a line.
const BROWSERS: &str = include_str!("agents/browsers.txt");

/// A category, a tab and an agent on each line.
const PROGRAMS: &str = include_str!("agents/programs.txt");

/// A category or `person`, a tab and an agent on each line.
const CURRENT: &str = include_str!("agents/current.txt");

/// Agents missing in the table of programs, one a line.
const MORE_PROGRAMS: &str = include_str!("agents/programs_by_pattern.txt");

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn is_bot(enricher: &mut Enricher, agent: &str) -> bool {
    let sent = Sent {
        user_agent: agent.as_bytes(),
        referrer: b"",
        accept_language: b"",
        query: b"",
        purpose: b"",
        address: Ipv4Addr::LOCALHOST.into(),
    };
    enricher.facts(&sent, None).is_bot
}

#[test]
fn d48_browsers_do_not_count_as_bots() {
    let mut enricher = Enricher::new(Sources::default());
    let taken: Vec<_> = lines(BROWSERS).filter(|agent| is_bot(&mut enricher, agent)).collect();
    assert_eq!(taken, Vec::<&str>::new());
}

#[test]
fn d48_only_programs_of_2026_count_as_bots() {
    let mut enricher = Enricher::new(Sources::default());
    let wrong: Vec<_> = lines(CURRENT)
        .map(|line| line.split_once('\t').unwrap())
        .filter(|(category, agent)| is_bot(&mut enricher, agent) == (*category == "person"))
        .collect();
    assert_eq!(wrong, Vec::new());
}

#[test]
fn d48_known_programs_count_as_bots() {
    let mut enricher = Enricher::new(Sources::default());
    let programs = lines(PROGRAMS).filter_map(|line| line.split_once('\t')).map(|(_, agent)| agent);
    let missed: Vec<_> =
        programs.chain(lines(MORE_PROGRAMS)).filter(|agent| !is_bot(&mut enricher, agent)).collect();
    assert_eq!(missed, Vec::<&str>::new());
}

#[test]
fn d48_the_patterns_know_more_than_the_table() {
    let mut without = Enricher::new(Sources::default().with_crawlers("").unwrap());
    let known: Vec<_> = lines(MORE_PROGRAMS).filter(|agent| is_bot(&mut without, agent)).collect();
    assert_eq!(known, Vec::<&str>::new(), "the table now knows these, so the patterns need not");
}

/// The visitors' side answers by the rule, the recorder counts by it.
#[test]
fn d57_visits_are_answered_and_counted_by_one_rule() {
    let bots = Bots::new(Sources::default());
    bots.warm_up();
    let mut enricher = Enricher::new(Sources::default());
    let programs = lines(PROGRAMS).filter_map(|line| line.split_once('\t')).map(|(_, agent)| agent);
    let beyond_the_limit = format!("{}Googlebot/2.1", "x ".repeat(256));
    let agents = lines(BROWSERS).chain(programs).chain(lines(MORE_PROGRAMS)).chain([&*beyond_the_limit, ""]);
    let differing: Vec<_> =
        agents.filter(|agent| bots.is_bot(agent.as_bytes(), b"") != is_bot(&mut enricher, agent)).collect();
    assert_eq!(differing, Vec::<&str>::new());
}
