//! Splits of visitors among targets, and what is recorded of rules (D134).

use std::collections::{BTreeMap, BTreeSet};

use signpost_domain::Redirect;
use signpost_domain::routing::Facts;

use crate::harness::{Edge, HOST, options};
use crate::rules::{DEFAULT, RULED, ruled, started, visit};

const SPLIT: &str = r#"[
    {"name":"out","conditions":[{"type":"query","name":"out","is":"present"}],"target_url":"https://example.org/by/a/rule"},
    {"name":"test","conditions":[],"split":[
        {"name":"a","target_url":"https://example.com/a","weight":700},
        {"name":"b","target_url":"https://example.com/b","weight":200},
        {"name":"c","target_url":"https://example.com/c","weight":100}]}]"#;

fn lines(address: &str, agent: &str) -> String {
    format!("X-Forwarded-For: {address}\r\nUser-Agent: {agent}\r\n")
}

fn variant(edge: &Edge, lines: &str) -> String {
    let answer = visit(edge, "/sale", lines);
    let headers: Vec<&str> = answer.headers.keys().map(String::as_str).collect();
    assert_eq!(headers, ["cache-control", "connection", "content-length", "location"]);
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    answer.header("location").unwrap().to_owned()
}

/// The same address and agent get the same variant, on every node and day, without a cookie.
#[tokio::test(flavor = "multi_thread")]
async fn d134_a_visitor_gets_the_same_variant_on_every_node_and_day() {
    let edge = started().await;
    let link: Redirect = ruled("sale", SPLIT);
    edge.add(&link).await;
    let memory = edge.memory.clone();
    let other = Edge::start_with(memory, options(0), |_| {}).await;
    let mut counts = BTreeMap::<String, u32>::new();
    for number in 0..400 {
        let (address, agent) = (format!("192.0.2.{}", number % 200), format!("Browser/{}", number / 200));
        let lines = lines(&address, &agent);
        let found = variant(&edge, &lines);
        let facts = Facts {
            address: Some(address.parse().unwrap()),
            agent: agent.as_bytes(),
            query: Some(b""),
            ..Facts::default()
        };
        let expected = link.content.rules.decide(&facts).unwrap();
        assert_eq!(found, expected.target_url.as_str(), "{address} {agent}");
        if number % 40 == 0 {
            edge.memory.clock.jump_ahead(std::time::Duration::from_hours(49));
            assert_eq!([variant(&edge, &lines), variant(&other, &lines)], [found.clone(), found.clone()]);
        }
        *counts.entry(found).or_default() += 1;
    }
    let counts: Vec<u32> = counts.into_values().collect();
    assert!(matches!(counts.as_slice(), [230..=330, 50..=115, 20..=65]), "{counts:?}");
}

/// Devices change the last 64 bits of an address by themselves.
#[tokio::test(flavor = "multi_thread")]
async fn d134_the_network_of_an_ipv6_address_counts() {
    let edge = started().await;
    edge.add(&ruled("sale", SPLIT)).await;
    let of = |network: u16, device: u16| {
        variant(&edge, &lines(&format!("2001:db8:0:{network:x}::{device:x}"), "Browser"))
    };
    let networks: BTreeSet<String> = (0..60).map(|network| of(network, 1)).collect();
    assert!(networks.len() > 1);
    for network in 0..20 {
        let variants: BTreeSet<String> = (1..10).map(|device| of(network, device)).collect();
        assert_eq!(variants.len(), 1, "{network}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d134_a_click_has_the_name_of_its_rule_and_variant() {
    let edge = started().await;
    let unnamed = ruled(
        "unnamed",
        r#"[{"conditions":[{"type":"query","name":"out","is":"present"}],"target_url":"https://example.org/by/a/rule"}]"#,
    );
    let id = unnamed.content.rules.as_slice()[0].id.to_string();
    edge.add(&ruled("sale", SPLIT)).await;
    edge.add(&unnamed).await;
    let lines = lines("192.0.2.9", "Browser");
    let name = variant(&edge, &lines).strip_prefix("https://example.com/").unwrap().to_owned();
    assert_eq!(visit(&edge, "/sale?out", &lines).header("location"), Some(RULED));
    assert_eq!(visit(&edge, "/unnamed", &lines).header("location"), Some(DEFAULT));
    assert_eq!(visit(&edge, "/unnamed?out", &lines).header("location"), Some(RULED));
    edge.request_with("HEAD", "/sale?out", &format!("Host: {HOST}\r\n"));
    let mut rules: Vec<String> = edge.clicks().await.into_iter().map(|click| click.rule).collect();
    rules.sort();
    let mut expected = vec![String::new(), "out".to_owned(), format!("test.{name}"), id];
    expected.sort();
    assert_eq!(rules, expected);
}
