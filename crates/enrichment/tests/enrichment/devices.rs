//! Devices, systems and browsers of agents (D47).

use std::net::Ipv4Addr;

use signpost_enrichment::{Enricher, Facts, Sent, Sources};

/// A device, a system, a browser and an agent on each line.
const DEVICES: &str = include_str!("agents/devices.tsv");

/// `browser` or `os`, its family, and an agent on each line.
const FAMILIES: &str = include_str!("agents/families.tsv");

fn facts(enricher: &mut Enricher, agent: &str) -> Facts {
    let sent = Sent {
        user_agent: agent.as_bytes(),
        referrer: b"",
        accept_language: b"",
        query: b"",
        purpose: b"",
        address: Ipv4Addr::LOCALHOST.into(),
    };
    enricher.facts(&sent, None)
}

#[expect(clippy::unwrap_used, reason = "a line without all columns fails the test")]
fn rows<const COLUMNS: usize>(text: &'static str) -> Vec<[&'static str; COLUMNS]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.splitn(COLUMNS, '\t').collect::<Vec<_>>().try_into().unwrap()).collect()
}

#[test]
fn d47_realistic_agents_have_their_device_system_and_browser() {
    let mut enricher = Enricher::new(Sources::default());
    let rows = rows::<4>(DEVICES);
    assert!(rows.len() >= 60, "{}", rows.len());
    for [device, os, browser, agent] in rows {
        let facts = facts(&mut enricher, agent);
        assert_eq!((facts.device, &*facts.os, &*facts.browser), (device, os, browser), "{agent}");
    }
}

#[test]
fn d47_systems_and_browsers_match_the_tests_of_uap_core() {
    let mut enricher = Enricher::new(Sources::default());
    let rows = rows::<3>(FAMILIES);
    assert!(rows.len() >= 500, "{}", rows.len());
    for [kind, family, agent] in rows {
        let facts = facts(&mut enricher, agent);
        let found = if kind == "os" { facts.os } else { facts.browser };
        assert_eq!(&*found, family, "{kind} of {agent}");
    }
}
