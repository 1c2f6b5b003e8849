//! Addresses that try many missing links (D54).

use std::time::Duration;

use signpost_domain::TrustedProxies;
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

use crate::harness::{Edge, HOST, options};

#[tokio::test(flavor = "multi_thread")]
async fn d54_too_many_misses_get_429_until_the_minute_ends() {
    let edge = Edge::start_with(InMemory::default(), options(3), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    for path in ["/none", "/a/b", "/none/qr.svg"] {
        assert_eq!(edge.get("/sale").status, 302);
        assert_eq!(edge.get(path).status, 404);
    }
    edge.add(&samples::redirect("later")).await;
    // The fakes' clock is at second 7.042 of its minute.
    for path in ["/none", "/later", "/a/b", "/sale/qr.svg."] {
        let answer = edge.get(path);
        assert_eq!(answer.status, 429);
        assert_eq!(answer.header("retry-after"), Some("53"));
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    }
    // Links in memory open, so one guest of a hotel does not close a campaign to the others.
    assert_eq!(edge.get("/sale").status, 302);
    assert_eq!(edge.get("/sale/qr.svg").status, 200);
    edge.memory.clock.advance(Duration::from_secs(53));
    assert_eq!(edge.get("/sale").status, 302);
    assert_eq!(edge.get("/later").status, 302);
    assert_eq!(edge.get("/none").status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_ten_times_the_misses_close_links_in_memory_too() {
    let edge = Edge::start_with(InMemory::default(), options(3), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    assert_eq!(edge.get("/sale").status, 302);
    for number in 0..30 {
        assert_eq!(edge.get("/sale").status, 302, "after {number}");
        assert_eq!(edge.get("/none").status, if number < 3 { 404 } else { 429 });
    }
    assert_eq!(edge.get("/sale").status, 429);
    assert_eq!(edge.get("/favicon.ico").status, 200);
    edge.memory.clock.advance(Duration::from_secs(53));
    assert_eq!(edge.get("/sale").status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_automatic_browser_requests_are_never_misses() {
    let edge = Edge::start_with(InMemory::default(), options(1), |_| {}).await;
    for (path, status) in [
        ("/favicon.ico", 200),
        ("/robots.txt", 200),
        ("/apple-touch-icon.png", 200),
        ("/.well-known/security.txt", 200),
        ("/.well-known/acme-challenge/x", 404),
        ("/.well-known/change-password", 404),
        ("/", 200),
    ] {
        assert_eq!(edge.get(path).status, status, "{path}");
    }
    assert_eq!(edge.get("/none").status, 404);
    assert_eq!(edge.get("/none").status, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_only_misses_count() {
    let edge = Edge::start_with(InMemory::default(), options(1), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    edge.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 3);
    for _ in 0..3 {
        assert_eq!(edge.get("/none").status, 503);
        assert_eq!(edge.request("PUT", "/none").status, 405);
    }
    assert_eq!(edge.get("/sale").status, 302);
    assert_eq!(edge.get("/none").status, 404);
    assert_eq!(edge.get("/none").status, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_limit_zero_turns_the_throttle_off() {
    let edge = Edge::start_with(InMemory::default(), options(0), |_| {}).await;
    for _ in 0..400 {
        assert_eq!(edge.get("/none").status, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d18_r29_misses_count_for_the_client_of_a_trusted_proxy() {
    let trusting = |networks: &[&str]| {
        let networks = networks.iter().map(|network| network.parse().unwrap()).collect();
        InMemory { trusted_proxies: TrustedProxies::new(networks), ..InMemory::default() }
    };
    let from = |edge: &Edge, forwarded_for: &str| {
        let headers = format!("Host: {HOST}\r\nX-Forwarded-For: {forwarded_for}\r\n");
        edge.request_with("GET", "/none", &headers).status
    };
    let edge = Edge::start_with(trusting(&["127.0.0.0/8"]), options(1), |_| {}).await;
    assert_eq!(from(&edge, "203.0.113.1"), 404);
    assert_eq!(from(&edge, "6.6.6.6, 203.0.113.1"), 429, "values of the client are ignored");
    assert_eq!(from(&edge, "203.0.113.2"), 404);
    assert_eq!(from(&edge, "2001:db8::1"), 404);
    assert_eq!(from(&edge, "2001:db8::2"), 429, "one /64");
    let edge = Edge::start_with(trusting(&[]), options(1), |_| {}).await;
    assert_eq!(from(&edge, "203.0.113.1"), 404);
    assert_eq!(from(&edge, "203.0.113.2"), 429, "not a trusted proxy");
}
