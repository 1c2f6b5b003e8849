//! Links that turn visitors away (D55, D56, D61).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_test_servers::country_database::{Located, country_database};

use crate::harness::{Program, Visitor};

/// The system domain of a program without settings.
const HOST: (&str, &str) = ("Host", "localhost:8081");

/// How soon a change of the file takes effect. The program checks it every second, and waits until it has
/// settled.
const HOLDS_WITHIN: Duration = Duration::from_secs(10);

fn from(visitor: &Visitor, path: &str, address: &str) -> u16 {
    visitor.request("GET", path, &[HOST, ("X-Forwarded-For", address)]).status
}

fn await_status(visitor: &Visitor, path: &str, address: &str, status: u16) {
    let begun = Instant::now();
    while from(visitor, path, address) != status {
        assert!(begun.elapsed() < HOLDS_WITHIN, "{path} does not answer {status} to {address} in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn d55_the_country_database_decides_and_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("countries.mmdb");
    let germany_is = |network: &str| country_database(&[(network, Located::in_country("DE"))]);
    std::fs::write(&file, germany_is("192.0.2.0/24")).unwrap();
    // The harness is a proxy on the loopback interface, which is trusted by default.
    let mut program = Program::builder().setting("geoip-database", file.to_str().unwrap()).start();
    let account = program.first_account();
    account.create_redirect(&json!({
        "name": "x", "slug": "closed", "target_url": "https://example.com", "geo_blocklists": {"countries": ["de"]}
    }));
    let visitor = program.visitor();
    for (address, status) in [("192.0.2.1", 403), ("198.51.100.1", 302), ("2001:db8::1", 302)] {
        assert_eq!(from(&visitor, "/closed", address), status, "{address}");
    }

    std::fs::write(&file, germany_is("198.51.100.0/24")).unwrap();
    await_status(&visitor, "/closed", "198.51.100.1", 403);
    assert_eq!(from(&visitor, "/closed", "192.0.2.1"), 302);

    std::fs::write(&file, "<html>please sign in</html>").unwrap();
    program.await_log("the country database is broken");
    assert_eq!(from(&visitor, "/closed", "198.51.100.1"), 403, "the last good database answers");
    let log = program.stop_and_read_log();
    assert!(!log.contains("198.51.100.1"), "R31: {log}");
}

#[test]
fn d56_antibot_and_the_country_header_turn_visitors_away() {
    let program = Program::builder().setting("country-header", "X-Country").start();
    let account = program.first_account();
    account.create_redirect(&json!({
        "name": "x", "slug": "people", "target_url": "https://example.com", "antibot_enabled": true
    }));
    account.create_redirect(&json!({
        "name": "x", "slug": "abroad", "target_url": "https://example.com", "geo_blocklists": {"countries": ["DE"]}
    }));
    let visitor = program.visitor();
    let status = |path: &str, header: (&str, &str)| visitor.request("GET", path, &[HOST, header]).status;
    assert_eq!(status("/people", ("User-Agent", "curl/8.5.0")), 403);
    assert_eq!(status("/people", ("User-Agent", "")), 403);
    let browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    assert_eq!(status("/people", ("User-Agent", browser)), 302);
    assert_eq!(status("/abroad", ("X-Country", "DE")), 403);
    assert_eq!(status("/abroad", ("X-Country", "FR")), 302);
}
