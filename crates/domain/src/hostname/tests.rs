use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> String {
    Hostname::parse(text).unwrap().to_string()
}

fn refused(text: &str) -> ViolationCode {
    match Hostname::parse(text) {
        Ok(hostname) => panic!("{text:?} was read as {hostname}"),
        Err(error) => error.code(),
    }
}

#[test]
fn d9_a_hostname_is_compared_after_normalisation() {
    assert_eq!(parsed("\tGO.Example.com.\n"), "go.example.com");
    assert_eq!(parsed("LOCALHOST"), "localhost");
    assert_eq!(parsed("xn--MNCHEN-3ya.de"), "xn--mnchen-3ya.de");
    assert_eq!(Hostname::parse("A.b").unwrap(), Hostname::parse("a.B.").unwrap());
}

#[test]
fn hostnames_are_dns_names_or_addresses() {
    for host in ["a", "a-b.c--d.e", "1.example", "127.0.0.1", "0.0.0.0", "3com.com", "x.0xzz", "xn--p1ai"] {
        assert_eq!(parsed(host), host);
    }
    for text in [
        "a..b",
        ".a",
        "a..",
        "-a.b",
        "a-.b",
        "a_b",
        "a b",
        "a/b",
        "a:80",
        "a@b",
        "a\\b",
        "*.a",
        "münchen.de",
        "a%2eb",
        "a。b",
        "a\0b",
        "[a]",
        "[",
        "]",
        "[]",
        "[::1",
        "::1",
        "[::1]x",
        "[::1].",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[127.0.0.1]",
        "[ ::1]",
        "[:::]",
    ] {
        assert_eq!(refused(text), ViolationCode::InvalidFormat, "{text:?}");
    }
}

#[test]
fn d9_ambiguous_numeric_addresses_are_not_hosts() {
    for text in [
        "127.1",
        "2130706433",
        "010.0.0.1",
        "0x7f.1",
        "0x7f000001",
        "127.0.0.0x1",
        "256.0.0.1",
        "1.2.3.4.5",
        "a.1",
        "1.2.3",
        "0",
        "a.0x",
        "127.0.0.01",
    ] {
        assert_eq!(refused(text), ViolationCode::InvalidFormat, "{text:?}");
    }
}

#[test]
fn contract_hostnames_have_at_most_253_characters() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    assert_eq!(longest.len(), 253);
    assert_eq!(parsed(&format!("{longest}.")), longest);
    assert_eq!(refused(&format!("{longest}a")), ViolationCode::TooLong);
    assert_eq!(refused(&format!("{}.b", "a".repeat(64))), ViolationCode::InvalidFormat);
    for empty in ["", " ", "."] {
        assert_eq!(refused(empty), ViolationCode::TooShort);
    }
}

#[test]
fn ipv6_addresses_have_one_form() {
    for text in ["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", " [::0.0.0.1] "] {
        assert_eq!(parsed(text), "[::1]", "{text}");
    }
    assert_eq!(parsed("[2001:DB8::A]"), "[2001:db8::a]");
    assert_eq!(parsed("[::ffff:127.0.0.1]"), "[::ffff:7f00:1]");
}

#[test]
fn the_port_of_an_authority_is_dropped() {
    for (authority, host) in [
        ("Example.com", "example.com"),
        ("example.com:", "example.com"),
        ("example.com.:8081", "example.com"),
        ("127.0.0.1:65535", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[::1]:80", "[::1]"),
        (" localhost:0080 ", "localhost"),
    ] {
        assert_eq!(Hostname::from_authority(authority).unwrap().as_str(), host, "{authority}");
    }
    for authority in [
        "", ":80", "a:b", "a:80:80", "a:+80", "a:-1", "a:65536", "a :80", "a: 80", "::1", "[::1]80",
        "[::1]:x", "u@a", "u:p@a:80", "a/b", "http://a", "a]:80", "x[::1]", "[::1]]", "a,b",
    ] {
        assert!(Hostname::from_authority(authority).is_err(), "{authority:?}");
    }
}

fn any_label() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9]([a-zA-Z0-9-]{0,10}[a-zA-Z0-9])?"
}

proptest! {
    #[test]
    fn d9_a_hostname_reads_back_as_itself(text in "\\PC{0,40}") {
        if let Ok(hostname) = Hostname::parse(&text) {
            prop_assert_eq!(Hostname::parse(hostname.as_str()), Ok(hostname.clone()));
            prop_assert_eq!(Hostname::from_authority(&format!("{hostname}:80")), Ok(hostname));
        }
    }

    #[test]
    fn names_of_labels_are_hostnames(labels in vec(any_label(), 1..6), top in "[a-zA-Z]{2,10}") {
        let name = format!("{}.{top}", labels.join("."));
        prop_assert_eq!(parsed(&name), name.to_ascii_lowercase());
    }

    #[test]
    fn every_address_is_a_hostname(four in any::<Ipv4Addr>(), six in any::<Ipv6Addr>()) {
        prop_assert_eq!(parsed(&four.to_string()), four.to_string());
        let host = parsed(&format!("[{six}]"));
        prop_assert_eq!(host.trim_matches(['[', ']']).parse(), Ok(six));
    }

    /// Browsers and this type agree on what a host is, so that the host of the `Host` header is found.
    #[test]
    fn a_hostname_is_the_host_that_a_browser_requests(text in "[a-z0-9x.-]{1,12}") {
        if let Ok(hostname) = Hostname::parse(&text) {
            prop_assert_eq!(url::Host::parse(hostname.as_str()).map(|host| host.to_string()), Ok(hostname.to_string()));
        }
    }
}
