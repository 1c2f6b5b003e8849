//! Hosts that RFC 3986 and the WHATWG rules read in the same way.

use std::net::Ipv6Addr;

use url::Host;

use crate::hostname::{Hostname, bracketed};

/// The maximum length of a label of a DNS name.
const MAX_LABEL: usize = 63;

/// The ASCII form of a target's host in lower case, without a trailing dot. `None` if `given` is not a host,
/// or if RFC 3986 and the WHATWG rules read it differently (D24).
///
/// RFC 3986 takes a name literally. The WHATWG rules decode, map and drop characters, and read numbers as
/// IPv4 addresses. So a host is accepted only if their result is the given text, except for letter case.
/// `0x7f.1`, which becomes `127.0.0.1`, is refused; so are `ｅxample.com` and `exam\u{ad}ple.com`, which
/// become `example.com`. The ASCII form of an internationalised name must convert back to the same name.
pub(crate) fn agreed_ascii_form(given: &str) -> Option<String> {
    if let Some(inner) = given.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        // Both rules allow several spellings of an address, with the same meaning. URLs have no zone ids.
        return inner.parse::<Ipv6Addr>().ok().map(bracketed);
    }
    let name = given.strip_suffix('.').unwrap_or(given);
    if !name.chars().all(is_allowed_in_a_name) {
        return None;
    }
    match Host::parse(name).ok()? {
        // With a trailing dot, RFC 3986 reads a name and the WHATWG rules an address.
        Host::Ipv4(address) => (address.to_string() == given).then(|| given.to_owned()),
        Host::Ipv6(_) => None,
        Host::Domain(ascii) => (fits_dns(&ascii) && is_the_same_name(name, &ascii)).then_some(ascii),
    }
}

/// The ASCII form of the host of a stored target, as [`agreed_ascii_form`] computed it when the target was
/// accepted. `None` if the text does not look like a host.
///
/// A label that is not ASCII was accepted only because its ASCII form converts back to its lower case. So
/// that form is the Punycode of the lower case (RFC 3492), and computing it needs no table of allowed
/// characters.
pub(crate) fn ascii_form_of_stored(given: &str) -> Option<String> {
    if let Some(inner) = given.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().ok().map(bracketed);
    }
    let name = given.strip_suffix('.').unwrap_or(given);
    if name.is_empty() || !name.chars().all(is_allowed_in_a_name) {
        return None;
    }
    if name.is_ascii() {
        return Some(name.to_ascii_lowercase());
    }
    let labels: Option<Vec<String>> = name.split('.').map(ascii_label_of_stored).collect();
    Some(labels?.join("."))
}

fn ascii_label_of_stored(given: &str) -> Option<String> {
    if given.is_ascii() {
        return Some(given.to_ascii_lowercase());
    }
    Some(format!("xn--{}", idna::punycode::encode_str(&lower_case(given))?))
}

/// Converts each character to lower case like the WHATWG rules, without a special case for a final sigma.
fn lower_case(label: &str) -> String {
    label.chars().flat_map(char::to_lowercase).collect()
}

/// Letters, digits, `-`, `_`, dots, and characters that are not ASCII. RFC 3986 allows some more characters
/// in a name, but no host has them, and programs treat them differently.
const fn is_allowed_in_a_name(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn fits_dns(ascii: &str) -> bool {
    ascii.len() <= Hostname::MAX_CHARS && ascii.split('.').all(|label| (1..=MAX_LABEL).contains(&label.len()))
}

/// Whether `ascii` is `given` in lower case and ASCII form, label by label.
fn is_the_same_name(given: &str, ascii: &str) -> bool {
    given.split('.').count() == ascii.split('.').count()
        && given.split('.').zip(ascii.split('.')).all(|(given, ascii)| is_the_same_label(given, ascii))
}

fn is_the_same_label(given: &str, ascii: &str) -> bool {
    if given.is_ascii() {
        return given.eq_ignore_ascii_case(ascii);
    }
    ascii.starts_with("xn--") && idna::domain_to_unicode(ascii).0 == lower_case(given)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d24_hosts_that_all_readers_agree_on() {
        for (given, ascii) in [
            ("Example.COM", "example.com"),
            ("example.com.", "example.com"),
            ("localhost", "localhost"),
            ("my_site.example", "my_site.example"),
            ("a--b.-c", "a--b.-c"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:DB8:0::1]", "[2001:db8::1]"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
            ("straße.example", "xn--strae-oqa.example"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("ΟΔΟΣ.example", "xn--pxavbq.example"),
            ("i❤.example", "xn--i-7iq.example"),
        ] {
            assert_eq!(agreed_ascii_form(given).as_deref(), Some(ascii), "{given}");
        }
    }

    #[test]
    fn d24_hosts_that_rfc_3986_and_whatwg_read_differently() {
        for given in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "a b",
            "a%62",
            "%61",
            "a;b",
            "a*b",
            "a,b",
            "127.1",
            "0x7f.1",
            "2130706433",
            "010.0.0.1",
            "127.0.0.1.",
            "1.2.3.4.5",
            "256.1.1.1",
            "[::1",
            "::1]",
            "[::1].",
            "[fe80::1%25en0]",
            "[v1.a]",
            "ｅxample.com",
            "example。com",
            "example．com",
            "example｡com",
            "１２７.0.0.1",
            "exam\u{ad}ple.com",
            "exam\u{200b}ple.com",
            "\u{212a}ey.example",
            "①.example",
            "bu\u{308}cher.example",
            "xn--a",
            "xn--.com",
            "xn--abc-.com",
            "ﬀ.example",
            "㏕.example",
            "a\u{2024}b.example",
            "\u{feff}a.example",
            "i❤\u{fe0f}.example",
        ] {
            assert_eq!(agreed_ascii_form(given), None, "{given:?}");
        }
    }

    #[test]
    fn a_host_fits_the_dns() {
        assert!(agreed_ascii_form(&"a".repeat(63)).is_some());
        assert!(agreed_ascii_form(&"a".repeat(64)).is_none());
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert!(agreed_ascii_form(&longest).is_some());
        assert!(agreed_ascii_form(&format!("{longest}a")).is_none());
    }

    proptest! {
        #[test]
        fn the_ascii_form_is_its_own_ascii_form(given in "[a-z0-9ａ-ｃüßžςж例١。.-]{1,12}") {
            if let Some(ascii) = agreed_ascii_form(&given) {
                prop_assert!(ascii.is_ascii());
                prop_assert_eq!(agreed_ascii_form(&ascii), Some(ascii.clone()));
                let upper = ascii.to_ascii_uppercase();
                prop_assert_eq!(agreed_ascii_form(&upper), Some(ascii));
            }
        }

        #[test]
        fn every_hostname_is_a_host_with_itself_as_ascii_form(given in "[a-z0-9.-]{1,12}") {
            if let Ok(hostname) = Hostname::parse(&given)
                && !hostname.as_str().contains("xn--")
            {
                prop_assert_eq!(agreed_ascii_form(hostname.as_str()), Some(hostname.to_string()));
            }
        }
    }
}
