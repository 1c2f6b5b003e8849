//! What the link listener logs (R31). A separate program, because the log belongs to the whole process.

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

use std::io;
use std::sync::{Arc, Mutex};

use harness::{Edge, HOST, options};
use signpost_domain::{CountryCode, GeoBlocklist, Redirect, TrustedProxies};
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;
use tracing_subscriber::fmt::MakeWriter;

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Strings that must not appear in the log, in the shape that a log would quote.
const PRIVATE: [&str; 9] = [
    "127.0.0.1",
    "203.0.113.77",
    "2001:db8:77",
    "privateQuery",
    "privateAgent",
    "privateReferrer",
    "privateCookie",
    "privateHeader",
    "privatePassword",
];

/// Values that break lines, terminals and reading directions.
const TAILS: [&str; 6] =
    ["", " \u{202e}\u{2066}", " \t", " \"}{\"level\":\"ERROR\"}", " %0d%0a%1b[31m", " \u{85}\u{2028}"];

#[tokio::test(flavor = "multi_thread")]
async fn r31_no_log_level_shows_address_query_or_agent() {
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .init();
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    let memory = InMemory { trusted_proxies: TrustedProxies::new(networks), ..InMemory::default() };
    let edge = Edge::start_with(memory, options(40), |_| {}).await;
    let germany = CountryCode::parse("DE").unwrap();
    for address in ["203.0.113.77", "2001:db8:77::1"] {
        edge.memory.countries.put(address.parse().unwrap(), germany);
    }
    edge.add(&samples::redirect("sale")).await;
    edge.add(&samples::landing("menu")).await;
    edge.add(&Redirect { is_active: false, ..samples::redirect("inactive") }).await;
    let bots = samples::redirect("bots").with(|content| content.antibot_enabled = true);
    let countries = samples::redirect("countries")
        .with(|content| content.geo_blocklist = GeoBlocklist::new(vec![germany]));
    edge.add(&bots).await;
    edge.add(&countries).await;

    let mut statuses = std::collections::BTreeSet::new();
    for address in ["203.0.113.77", "2001:db8:77::1"] {
        for tail in TAILS {
            for path in
                ["sale", "menu", "inactive", "unknown", "bots", "countries", "%0d%0a", "..", "robots.txt"]
            {
                for method in ["GET", "HEAD", "POST"] {
                    let agent =
                        if path == "bots" { "privateAgent curl python-requests" } else { "privateAgent" };
                    let lines = format!(
                        "Host: {HOST}\r\nX-Forwarded-For: {address}\r\nUser-Agent: {agent}{tail}\r\n\
                         Referer: https://privateReferrer.example/{tail}\r\nCookie: privateCookie{tail}\r\n\
                         X-Other: privateHeader{tail}\r\n"
                    );
                    let target = format!("/{path}?privateQuery=%0d%0a&x");
                    statuses.insert(edge.request_with(method, &target, &lines).status);
                }
            }
        }
    }
    // The right password, wrong ones, and forms that cannot be read (D131).
    edge.add_protected(&samples::redirect("protected"), "privatePassword").await;
    for form in ["password=privatePassword", "password=privatePassword1", "a=privatePassword"] {
        statuses
            .insert(edge.post_with("/protected?privateQuery", "User-Agent: privateAgent\r\n", form).status);
    }
    let too_long = format!("password={}", "privatePassword".repeat(100));
    statuses.insert(edge.post_with("/protected", "", &too_long).status);
    edge.memory.store.faults().set_unavailable(true);
    statuses.insert(edge.send_password("/protected", "privatePassword").status);
    edge.memory.store.faults().set_unavailable(false);
    edge.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
    let lines = format!("Host: {HOST}\r\nUser-Agent: privateAgent\r\n");
    statuses.insert(edge.request_with("GET", "/away?privateQuery", &lines).status);
    // Requests that are refused before they are visits.
    for (line, value) in [("User-Agent", "privateAgent\u{1b}[31m\0"), ("X-Bad", "privateHeader\u{7}\rx")] {
        let request = format!("GET /sale?privateQuery HTTP/1.1\r\nHost: {HOST}\r\n{line}: {value}\r\n\r\n");
        statuses.insert(edge.send(request.as_bytes()).status);
    }
    statuses.insert(edge.send(b"GET /sale?privateQuery HTTP/1.1\r\nUser-Agent: privateAgent\r\n\r\n").status);
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [200, 302, 303, 400, 403, 404, 405, 413, 429, 503]);

    let text = log.text();
    for private in PRIVATE {
        let found: Vec<_> = text.lines().filter(|line| line.contains(private)).take(3).collect();
        assert!(found.is_empty(), "{private} in {found:#?}");
    }
    // The operator can still answer "why was I blocked?".
    for expected in [bots.id.to_string(), countries.id.to_string()] {
        assert!(
            text.lines().any(|line| line.contains("DEBUG") && line.contains(&expected)),
            "no {expected} in\n{text}"
        );
    }
    assert!(text.contains("rule=\"curl\"") || text.contains("rule=\"python-requests\""), "{text}");
    assert!(text.contains("country=DE"), "{text}");
}
