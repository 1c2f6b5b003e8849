use proptest::prelude::*;

use super::corpus::{ODD, REFUSED, USUAL};
use super::*;

fn stored(text: &str) -> Result<TargetUrl, MalformedStored> {
    TargetUrl::from_stored(text.to_owned())
}

#[test]
fn d24_an_accepted_target_reads_back_from_the_store_as_itself() {
    for (url, ..) in ODD.iter().chain(USUAL) {
        assert_eq!(stored(url), Ok(TargetUrl::parse(url).unwrap()), "{url}");
    }
}

/// A stored target stays readable even if a stricter rule or another release of the parsers would refuse it.
#[test]
fn d24_a_target_that_breaks_current_rules_is_still_read() {
    let long = format!("https://example.com/{}", "a".repeat(4_000));
    for (url, host, location) in [
        ("https://0x7f.1/a", "0x7f.1", "https://0x7f.1/a"),
        ("https://\u{1b0}\u{323}a.example/", "xn--a-nra72i.example", "https://xn--a-nra72i.example/"),
        ("https://example.com/a\\b", "example.com", "https://example.com/a\\b"),
        (&long, "example.com", &long),
    ] {
        assert!(TargetUrl::parse(url).is_err(), "{url}");
        let target = stored(url).unwrap();
        assert_eq!((target.as_str(), target.host()), (url, host));
        assert_eq!(target.location(), location);
    }
}

/// R10: a stored value cannot end a header, or lead anywhere but to a host on the web.
#[test]
fn r10_a_target_from_the_store_fits_a_header_and_leads_to_the_web() {
    let huge = format!("https://example.com/{}", "a".repeat(16 * 1024));
    for url in [
        "",
        "javascript:alert(1)",
        "//example.com",
        "https:example.com",
        "https://",
        "https:///a",
        "https://user@example.com/",
        "https://user:word@example.com/",
        "https://user@[::1]/",
        "https://a\\b/",
        "https://[::1/",
        "https://[example]/",
        "https://example.com:99999/",
        "https://example.com:+1/",
        "https://example.com/\r\nSet-Cookie: a=b",
        "https://example.com/\0",
        "https://example.com/a b",
        "https://example.com/\u{3000}",
        " https://example.com/",
        &huge,
    ] {
        assert!(stored(url).is_err(), "{url:?}");
    }
    for url in REFUSED.iter().flat_map(|(_, urls)| *urls) {
        if let Ok(target) = stored(url) {
            assert!(is_safe(&target), "{url:?}");
        }
    }
}

fn is_safe(target: &TargetUrl) -> bool {
    let location = target.location();
    let is_of_a_host = |c: char| c.is_ascii_alphanumeric() || "-_.[:]".contains(c);
    location.bytes().all(|byte| (0x21..=0x7e).contains(&byte))
        && parts::split(&location)
            .is_some_and(|Parts { host, .. }| !host.is_empty() && host.chars().all(is_of_a_host))
        && !target.host().is_empty()
        && target.host().chars().all(is_of_a_host)
}

/// The path still identifies an address of ours if the parser refuses the target by now.
#[test]
fn d24_a_target_that_the_parser_refuses_keeps_its_path() {
    for (url, path) in [
        ("https://0x7f.0x1.0x1.0x1.1/sale?x#y", "/sale"),
        ("https://0x7f.0x1.0x1.0x1.1", "/"),
        ("https://0x7f.0x1.0x1.0x1.1?x", "/"),
    ] {
        assert!(Url::parse(url).is_err());
        assert_eq!(stored(url).unwrap().requested_path().as_ref(), path.as_bytes(), "{url}");
    }
}

proptest! {
    #[test]
    fn d24_accepted_targets_read_back_unchanged(
        text in "https?://(\\[::[0-9a-fA-F]{1,4}\\]|([a-zA-Z0-9ü߀-߿ß_-]{1,9}\\.){0,3}[a-zäÖç]{1,5}\\.?)(:[0-9]{0,5})?(/\\PC{0,9})?",
    ) {
        if let Ok(target) = TargetUrl::parse(&text) {
            prop_assert_eq!(stored(&text), Ok(target));
        }
    }

    #[test]
    fn r10_every_stored_target_that_is_read_is_safe(text in "https?://[\\PC\r\n\0]{0,40}") {
        if let Ok(target) = stored(&text) {
            prop_assert!(is_safe(&target));
        }
    }
}
