//! Databases that the tests write themselves: read, queried, replaced and broken.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;

use proptest::prelude::*;
use signpost_app::ports::CountryLookup;
use signpost_domain::CountryCode;
use signpost_geoip::{GeoDatabase, GeoDatabaseError};
use signpost_test_servers::country_database::{BUILT_AT, Located, country_database};

const GERMANY: Located = Located::in_country("DE");
const AUSTRIA: Located = Located::in_country("AT");

fn file(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("countries.mmdb");
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn database(networks: &[(&str, Located)]) -> (tempfile::TempDir, GeoDatabase) {
    let (folder, path) = file(&country_database(networks));
    (folder, GeoDatabase::open(path).unwrap())
}

fn country(database: &GeoDatabase, address: &str) -> Option<&'static str> {
    database.country(address.parse().unwrap()).map(CountryCode::as_str)
}

/// The tests write their own databases, so the library's check verifies them.
#[test]
fn databases_of_the_tests_are_valid() {
    let content = country_database(&[
        ("192.0.2.0/24", GERMANY),
        ("192.0.2.128/25", AUSTRIA),
        ("2001:db8::/32", Located { country: None, registered_country: Some("JP") }),
    ]);
    maxminddb::Reader::from_source(content).unwrap().verify().unwrap();
}

#[test]
fn d55_addresses_of_both_families_are_found() {
    let (_folder, database) = database(&[
        ("192.0.2.0/24", GERMANY),
        ("192.0.2.128/25", AUSTRIA),
        ("198.51.100.7/32", Located::in_country("FR")),
        ("2001:db8::/32", Located::in_country("JP")),
        ("2001:db8:1::/48", Located::in_country("KR")),
    ]);
    for (address, expected) in [
        ("192.0.2.1", Some("DE")),
        ("192.0.2.127", Some("DE")),
        ("192.0.2.128", Some("AT")),
        ("192.0.3.0", None),
        ("198.51.100.7", Some("FR")),
        ("198.51.100.8", None),
        ("0.0.0.0", None),
        ("255.255.255.255", None),
        ("2001:db8::1", Some("JP")),
        ("2001:db8:1::1", Some("KR")),
        ("2001:db9::1", None),
        ("::1", None),
        ("::ffff:192.0.2.1", Some("DE")),
    ] {
        assert_eq!(country(&database, address), expected, "{address}");
    }
    assert_eq!(database.built_at(), BUILT_AT);
}

#[test]
fn d55_country_of_registration_replaces_a_missing_location() {
    let (_folder, database) = database(&[
        ("192.0.2.0/24", Located { country: None, registered_country: Some("DE") }),
        ("198.51.100.0/24", Located { country: Some("AT"), registered_country: Some("DE") }),
        ("203.0.113.0/24", Located::default()),
    ]);
    assert_eq!(country(&database, "192.0.2.1"), Some("DE"));
    assert_eq!(country(&database, "198.51.100.1"), Some("AT"));
    assert_eq!(country(&database, "203.0.113.1"), None);
}

#[test]
fn d55_unassigned_code_is_an_unknown_country() {
    let (_folder, database) = database(&[
        ("192.0.2.0/24", Located::in_country("XX")),
        ("192.0.3.0/24", Located::in_country("XK")),
        ("198.51.100.0/24", Located::in_country("Germany")),
        ("203.0.113.0/24", GERMANY),
    ]);
    assert_eq!(country(&database, "192.0.2.1"), None);
    // Kosovo, which ISO 3166-1 lacks (D26).
    assert_eq!(country(&database, "192.0.3.1"), Some("XK"));
    assert_eq!(country(&database, "198.51.100.1"), None);
    assert_eq!(country(&database, "203.0.113.1"), Some("DE"));
}

#[test]
fn d61_file_without_countries_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let missing = GeoDatabase::open(folder.path().join("missing.mmdb")).unwrap_err();
    assert!(matches!(missing, GeoDatabaseError::Unreadable { .. }), "{missing}");
    assert!(missing.to_string().contains("missing.mmdb"), "{missing}");

    let whole = country_database(&[("192.0.2.0/24", GERMANY)]);
    let (_cut_in_half, half) = whole.split_at(whole.len() / 2);
    for broken in [b"".as_slice(), b"no database", &whole[..whole.len() / 2], half] {
        let (_folder, path) = file(broken);
        let error = GeoDatabase::open(path).unwrap_err();
        assert!(matches!(error, GeoDatabaseError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains("is not a database in MaxMind's format"), "{error}");
    }

    let (_folder, path) = file(&country_database(&[("192.0.2.0/24", Located::default())]));
    let error = GeoDatabase::open(path).unwrap_err();
    assert!(matches!(error, GeoDatabaseError::WithoutCountries { .. }), "{error}");
}

#[test]
fn d55_replaced_file_answers_after_a_reload() {
    let (folder, database) = database(&[("192.0.2.0/24", GERMANY)]);
    let path = folder.path().join("countries.mmdb");
    fs::write(&path, country_database(&[("192.0.2.0/24", AUSTRIA)])).unwrap();
    assert_eq!(country(&database, "192.0.2.1"), Some("DE"));
    database.reload();
    assert_eq!(country(&database, "192.0.2.1"), Some("AT"));
}

#[test]
fn d55_last_valid_database_stays_when_the_file_breaks() {
    let (folder, database) = database(&[("192.0.2.0/24", GERMANY)]);
    let path = folder.path().join("countries.mmdb");
    for broken in [b"".to_vec(), b"<html>sign in</html>".to_vec(), country_database(&[])] {
        fs::write(&path, broken).unwrap();
        database.reload();
        assert_eq!(country(&database, "192.0.2.1"), Some("DE"));
    }
    fs::remove_file(&path).unwrap();
    database.reload();
    assert_eq!(country(&database, "192.0.2.1"), Some("DE"));
}

proptest! {
    /// A damaged byte is refused or yields some answer, but never a panic or a hang.
    #[test]
    fn damaged_databases_never_panic_or_hang(place in any::<prop::sample::Index>(), byte in any::<u8>(), address in any::<IpAddr>()) {
        let mut content = country_database(&[("192.0.2.0/24", GERMANY), ("2001:db8::/32", AUSTRIA)]);
        let place = place.index(content.len());
        content[place] = byte;
        let (_folder, path) = file(&content);
        if let Ok(database) = GeoDatabase::open(path) {
            for address in [address, IpAddr::from([192, 0, 2, 1])] {
                let country = database.country(address);
                prop_assert!(country.is_none_or(|country| country.as_str().len() == 2));
            }
        }
    }
}
