//! The metrics of the link listener. A separate program, because metrics belong to the whole process.

#![allow(
    dead_code,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and this one uses only a part of the harness"
)]

#[path = "edge/harness.rs"]
#[allow(clippy::disallowed_methods, reason = "tests store values that no use case creates")]
mod harness;

use harness::{Edge, HOST, options, redirect_to};
use metrics_exporter_prometheus::PrometheusBuilder;
use signpost_app::ports::Store as _;
use signpost_domain::{CountryCode, GeoBlocklist, HostBlocklist, Life, Redirect, Schedule};
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

#[tokio::test(flavor = "multi_thread")]
async fn visits_are_counted_by_outcome_and_reason() {
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    let shows = |lines: &[&str]| {
        let text = metrics.render();
        for line in lines {
            assert!(text.lines().any(|it| it == *line), "no {line} in\n{text}");
        }
    };
    let edge = Edge::start_with(InMemory::default(), options(2), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    for _ in 0..3 {
        edge.get("/sale");
    }
    edge.request("POST", "/sale");
    edge.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
    edge.get("/none");
    for _ in 0..6 {
        edge.get("/none");
    }
    shows(&[
        "signpost_visits_total{outcome=\"redirected\"} 3",
        "signpost_visits_total{outcome=\"method_not_allowed\"} 1",
        "signpost_visits_total{outcome=\"unavailable\"} 1",
        "signpost_visits_total{outcome=\"not_found\"} 2",
        "signpost_visits_total{outcome=\"throttled\"} 4",
        // Throttled visits are not looked up.
        "signpost_visits_turned_away_total{reason=\"unknown\"} 2",
        "signpost_visits_turned_away_total{reason=\"bot\"} 0",
    ]);
    ask_for_passwords().await;
    shows(&[
        "signpost_visits_total{outcome=\"password_asked\"} 2",
        "signpost_visits_total{outcome=\"password_wrong\"} 10",
        "signpost_visits_total{outcome=\"password_throttled\"} 1",
        "signpost_visits_total{outcome=\"passwords_busy\"} 1",
        "signpost_visits_total{outcome=\"bad_request\"} 1",
        // Three before, and one after the right password.
        "signpost_visits_total{outcome=\"redirected\"} 4",
    ]);
    turn_visitors_away().await;
    shows(&[
        "signpost_visits_total{outcome=\"turned_away\"} 3",
        "signpost_visits_turned_away_total{reason=\"bot\"} 1",
        "signpost_visits_turned_away_total{reason=\"country\"} 2",
        "signpost_visits_turned_away_total{reason=\"inactive\"} 2",
        "signpost_visits_turned_away_total{reason=\"listed\"} 1",
        "signpost_visits_turned_away_total{reason=\"loop\"} 1",
        "signpost_visits_turned_away_total{reason=\"suspended\"} 1",
        "signpost_visits_turned_away_total{reason=\"scheduled\"} 1",
        "signpost_visits_turned_away_total{reason=\"expired\"} 2",
        "signpost_visits_total{outcome=\"expired\"} 2",
        // An unknown slug, an unknown host, an invalid path, a lost link, an inactive domain.
        "signpost_visits_turned_away_total{reason=\"unknown\"} 7",
    ]);
}

/// Visits a link with a password (D131).
async fn ask_for_passwords() {
    let edge = Edge::start().await;
    edge.add_protected(&samples::redirect("prices"), "plover").await;
    edge.get("/prices");
    edge.request("HEAD", "/prices");
    edge.send_password("/prices", "plover");
    edge.request_with("POST", "/prices", &format!("Host: {HOST}\r\nContent-Type: text/plain\r\n"));
    edge.memory.link_passwords.set_busy(true);
    edge.send_password("/prices", "plover");
    edge.memory.link_passwords.set_busy(false);
    for _ in 0..11 {
        edge.send_password("/prices", "wrong");
    }
}

/// Visits links that lead nowhere or turn visitors away.
async fn turn_visitors_away() {
    let edge = Edge::start().await;
    let germany = CountryCode::parse("DE").unwrap();
    edge.memory.countries.put("127.0.0.1".parse().unwrap(), germany);
    edge.memory.target_blocklist.replace(HostBlocklist::parse("listed.example").unwrap());
    for link in [
        samples::redirect("bots").with(|content| content.antibot_enabled = true),
        samples::redirect("countries")
            .with(|content| content.geo_blocklist = GeoBlocklist::new(vec![germany])),
        Redirect { is_active: false, ..samples::redirect("inactive") },
        redirect_to("leads-to-inactive", &format!("https://{HOST}/inactive")),
        redirect_to("listed", "https://listed.example/"),
        redirect_to("round", &format!("https://{HOST}/round")),
        samples::redirect_at(samples::lost(Some("lost"))),
        samples::redirect_at(samples::on_custom("links.example.net", Some("custom"))),
        samples::redirect("suspended"),
    ] {
        edge.add(&link).await;
    }
    let fallback_url = Some(samples::target("https://example.com/over"));
    for (slug, starts_at, expires_at, fallback_url) in [
        ("scheduled", Some(1), None, None),
        ("expired", None, Some(0), None),
        ("expired-to", None, Some(0), fallback_url),
    ] {
        let schedule = Schedule::from_stored(starts_at.map(samples::at), expires_at.map(samples::at));
        edge.add(&Redirect { life: Life { schedule, fallback_url }, ..samples::redirect(slug) }).await;
        edge.get(&format!("/{slug}"));
    }
    for path in ["/bots", "/countries", "/inactive", "/leads-to-inactive", "/listed", "/round"] {
        edge.get(path);
    }
    edge.request("HEAD", "/countries");
    for path in ["/unknown", "/a/b", "/lost"] {
        edge.get(path);
    }
    for host in ["unknown.example", "links.example.net"] {
        edge.request_with("GET", "/custom", &format!("Host: {host}\r\n"));
    }
    let mut work = edge.memory.store.begin().await.unwrap();
    work.set_suspended(edge.account, Some(samples::at(0))).await.unwrap();
    edge.commit(work).await;
    edge.get("/suspended");
}
