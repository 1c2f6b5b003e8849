//! The parameters that redirects add to their targets (D132).

use proptest::prelude::*;
use url::Url;

use super::*;

fn forwarded(location: &str, query: &str) -> String {
    let mut location = location.to_owned();
    forward_query(&mut location, query);
    location
}

fn with_source(url: &str, value: &str) -> String {
    with_parameters(url, [("utm_source", value)].into_iter())
}

#[test]
fn d132_parameters_of_a_campaign_replace_those_of_the_target() {
    for (url, expected) in [
        ("https://a.example", "https://a.example?utm_source=x"),
        ("https://a.example/", "https://a.example/?utm_source=x"),
        ("https://a.example/?", "https://a.example/?utm_source=x"),
        ("https://a.example/#?b", "https://a.example/?utm_source=x#?b"),
        ("https://a.example/?b=1#c?d", "https://a.example/?b=1&utm_source=x#c?d"),
        ("https://a.example/?utm_source=own&b=1&utm_source", "https://a.example/?b=1&utm_source=x"),
        ("https://a.example/?utm%5Fsource=own", "https://a.example/?utm_source=x"),
        // Names are compared exactly.
        ("https://a.example/?UTM_SOURCE=own", "https://a.example/?UTM_SOURCE=own&utm_source=x"),
        ("https://a.example/?q=utm_source=own", "https://a.example/?q=utm_source=own&utm_source=x"),
        ("https://a.example/?&b&&", "https://a.example/?&b&&&utm_source=x"),
    ] {
        assert_eq!(with_source(url, "x"), expected);
    }
    assert_eq!(
        with_source("https://a.example", "a b&c=ü%~"),
        "https://a.example?utm_source=a%20b%26c%3D%C3%BC%25~"
    );
}

#[test]
fn d132_the_visitors_parameters_follow_those_of_the_target() {
    for (location, query, expected) in [
        ("https://a.example", "b=1", "https://a.example?b=1"),
        ("https://a.example/?", "b=1&c", "https://a.example/?b=1&c"),
        ("https://a.example/?b=1", "c=2&b=3", "https://a.example/?b=1&c=2"),
        ("https://a.example/?b=1#d", "c=2", "https://a.example/?b=1&c=2#d"),
        ("https://a.example/#d?b=1", "b=2", "https://a.example/?b=2#d?b=1"),
        // What programs read as the same name is the same.
        ("https://a.example/?a%20b=1", "a+b=2&a%20b=3&%61%20b=4", "https://a.example/?a%20b=1"),
        ("https://a.example/?b", "b=1&B=2", "https://a.example/?b&B=2"),
        // Values may repeat, and their encoding stays.
        ("https://a.example/", "b=1&b=2&c=%20+", "https://a.example/?b=1&b=2&c=%20+"),
        ("https://a.example/", "src=qr&src=mail&xsrc=qr&s%72c=q%72", "https://a.example/?src=mail&xsrc=qr"),
        ("https://a.example/", "&&b&&", "https://a.example/?b"),
        ("https://a.example/", "", "https://a.example/"),
        ("https://a.example/", "src=qr", "https://a.example/"),
    ] {
        assert_eq!(forwarded(location, query), expected, "{location} {query}");
    }
}

#[test]
fn d132_bytes_that_a_query_cannot_have_are_encoded() {
    for (query, expected) in [
        ("a[0]={\"b\"}", "a%5B0%5D=%7B%22b%22%7D"),
        ("a=<>\\^`|", "a=%3C%3E%5C%5E%60%7C"),
        ("a=ü", "a=%C3%BC"),
        ("a=\r\nLocation: //evil", "a=%0D%0ALocation:%20//evil"),
        ("a=b#c", "a=b%23c"),
        ("a=%&b=%4&c=%zz&d=%%41&e=%41", "a=%25&b=%254&c=%25zz&d=%25%41&e=%41"),
        // These are allowed.
        ("a=-._~!$'()*+,;=:@/?", "a=-._~!$'()*+,;=:@/?"),
    ] {
        assert_eq!(forwarded("https://a.example/", query), format!("https://a.example/?{expected}"));
    }
}

#[test]
fn d132_a_location_that_would_be_too_long_stays_as_it_is() {
    let location = "https://a.example/?b=1";
    let fits = MAX_LOCATION_BYTES - location.len() - 1;
    assert_eq!(forwarded(location, &"c".repeat(fits)).len(), MAX_LOCATION_BYTES);
    for query in
        ["c".repeat(fits + 1), "\"".repeat(fits / 3 + 1), "b=1&".repeat(100_000), "c".repeat(100_000)]
    {
        assert_eq!(forwarded(location, &query), location);
    }
    let long = format!("https://a.example/{}", "x".repeat(MAX_LOCATION_BYTES));
    assert_eq!(forwarded(&long, "c"), long);
}

/// A target, its names and a query that share some names.
fn any_location() -> impl Strategy<Value = String> {
    "https?://[a-z]{1,9}\\.example(:8443)?(/[!-\"$->@-\\[\\]-~]{0,20})?(\\?[!-\"$-~]{0,30})?(#[!-~]{0,20})?"
}

fn any_query() -> impl Strategy<Value = String> {
    prop_oneof![
        "([abc]|utm_source|src|%61|%|\\+)?(=(qr|[!-~]{0,5}))?(&([abc]|src|%61)?(=(qr|[!-~]{0,5}))?){0,6}",
        "\\PC{0,40}",
        ".{0,40}",
        "[/\\\\@#?:\r\n]{0,9}//evil\\.example[@/#\\\\\r\n]{0,9}",
        "x{4000,4200}",
        "[a\"\u{e4}&=]{900,4200}",
    ]
}

/// The names of the parameters of a URL, as browsers read them.
fn names(url: &str) -> Vec<String> {
    Url::parse(url).unwrap().query_pairs().map(|(name, _)| name.into_owned()).collect()
}

proptest! {
    /// R9, R10: a visitor adds parameters, and changes nothing else.
    #[test]
    fn d132_no_query_changes_anything_but_the_query(location in any_location(), query in any_query()) {
        let result = forwarded(&location, &query);
        let [before, after] = [&location, &result].map(|url| Url::parse(url).unwrap());
        prop_assert_eq!(before.origin(), after.origin());
        prop_assert_eq!((before.scheme(), before.path()), (after.scheme(), after.path()));
        prop_assert_eq!((after.username(), after.password()), ("", None));
        prop_assert_eq!(before.fragment(), after.fragment());
        prop_assert!(after.query().unwrap_or_default().starts_with(before.query().unwrap_or_default()));
        prop_assert!(result.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{}", result);
        prop_assert!(result == location || result.len() <= MAX_LOCATION_BYTES);
    }

    /// The owner's values win: no name of the target gets another value.
    #[test]
    fn d132_no_parameter_of_the_target_is_added_again(location in any_location(), query in any_query()) {
        let own = names(&location);
        let result = names(&forwarded(&location, &query));
        prop_assert_eq!(result.get(..own.len()), Some(&own[..]));
        for added in &result[own.len()..] {
            prop_assert!(!own.contains(added), "{added}");
        }
    }

    #[test]
    fn d132_parameters_of_a_campaign_are_there_once(
        location in any_location(),
        value in "\\PC{1,40}",
        other in "\\PC{1,40}",
    ) {
        let result = with_source(&location, &value);
        let url = Url::parse(&result).unwrap();
        let found: Vec<_> = url.query_pairs().filter(|(name, _)| name == "utm_source").map(|(_, value)| value).collect();
        prop_assert_eq!(found, [value.as_str()]);
        let before = Url::parse(&location).unwrap();
        prop_assert_eq!((before.origin(), before.path(), before.fragment()), (url.origin(), url.path(), url.fragment()));
        // Adding the same again changes nothing, and another value replaces it.
        prop_assert_eq!(with_source(&result, &value), result.clone());
        prop_assert_eq!(with_source(&result, &other), with_source(&location, &other));
    }
}
