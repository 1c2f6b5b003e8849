//! Links that turn visitors of a country away (D55, D61).

use std::time::Duration;

use serde_json::json;
use signpost_test_servers::country_database::{Located, country_database};

use crate::harness::{Program, Visitor};

/// The system domain of a program without settings.
const HOST: (&str, &str) = ("Host", "localhost:8081");

/// How long to wait until a change of the file takes effect. The program checks it every second, and waits until it has
/// settled. The rest is for a busy machine.
const HOLDS_WITHIN: Duration = Duration::from_mins(1);

fn from(visitor: &Visitor, path: &str, address: &str) -> u16 {
    visitor.request("GET", path, &[HOST, ("X-Forwarded-For", address)]).status
}

#[test]
fn d55_the_country_database_decides_and_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("countries.mmdb");
    let germany_is = |network: &str| country_database(&[(network, Located::in_country("DE"))]);
    std::fs::write(&file, germany_is("192.0.2.0/24")).unwrap();
    // The harness is a proxy on the loopback interface, which is trusted by default.
    let mut program = Program::builder()
        .setting("geoip-database", file.to_str().unwrap())
        .setting("country-header", "X-Country")
        .start();
    let account = program.first_account();
    account.create_redirect(&json!({
        "name": "x", "slug": "closed", "target_url": "https://example.com", "geo_blocklists": {"countries": ["de"]}
    }));
    let visitor = program.visitor();
    for (address, status) in [("192.0.2.1", 403), ("198.51.100.1", 302), ("2001:db8::1", 302)] {
        assert_eq!(from(&visitor, "/closed", address), status, "{address}");
    }
    for (country, status) in [("DE", 403), ("FR", 302)] {
        let visit = visitor.request("GET", "/closed", &[HOST, ("X-Country", country)]);
        assert_eq!(visit.status, status, "the header `country-header` says {country}");
    }

    std::fs::write(&file, germany_is("198.51.100.0/24")).unwrap();
    visitor.request_until("/closed", &[HOST, ("X-Forwarded-For", "198.51.100.1")], 403, HOLDS_WITHIN);
    assert_eq!(from(&visitor, "/closed", "192.0.2.1"), 302);

    std::fs::write(&file, "<html>please sign in</html>").unwrap();
    program.await_log("the country database is broken");
    assert_eq!(from(&visitor, "/closed", "198.51.100.1"), 403, "the last good database answers");
    let log = program.stop_and_read_log();
    assert!(!log.contains("198.51.100.1"), "R31: {log}");
}
