use proptest::prelude::*;

use super::corpus::{ODD, REFUSED, USUAL};
use super::*;

/// White space and control characters. A target must not contain them.
const BLANKS: [char; 18] = [
    '\0', '\t', '\n', '\u{b}', '\u{c}', '\r', '\u{1b}', '\u{1f}', ' ', '\u{7f}', '\u{80}', '\u{85}',
    '\u{9f}', '\u{a0}', '\u{1680}', '\u{2003}', '\u{2028}', '\u{3000}',
];

fn refusal(text: &str) -> FieldError {
    match TargetUrl::parse(text) {
        Ok(target) => panic!("{text:?} was accepted with host {}", target.host()),
        Err(error) => error,
    }
}

/// R9.
#[test]
fn d24_hostile_targets_are_refused() {
    let mut wrong = Vec::new();
    for (trick, urls) in REFUSED {
        for url in *urls {
            if TargetUrl::parse(url).map_err(|error| error.code()) != Err(ViolationCode::InvalidFormat) {
                wrong.push((trick, url));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn d53_accepted_targets_are_kept_and_sent_as_listed() {
    for (url, host, location) in ODD.iter().chain(USUAL) {
        let target = TargetUrl::parse(url).unwrap_or_else(|error| panic!("{url:?}: {error}"));
        assert_eq!(target.as_str(), *url);
        assert_eq!(target.host(), *host, "{url:?}");
        assert_eq!(target.location(), location.unwrap_or(url), "{url:?}");
    }
}

#[test]
fn r9_the_corpus_is_large_and_has_no_duplicates() {
    let refused: Vec<_> = REFUSED.iter().flat_map(|(_, urls)| urls.iter().copied()).collect();
    let accepted: Vec<_> = ODD.iter().chain(USUAL).map(|(url, ..)| *url).collect();
    assert!(refused.len() >= 550 && ODD.len() >= 100 && USUAL.len() >= 50, "{} refused", refused.len());
    let mut all = [refused, accepted].concat();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn d24_white_space_and_control_characters_are_refused_anywhere() {
    for blank in BLANKS {
        for url in [
            "{}https://example.com/a",
            "ht{}tps://example.com/a",
            "https:{}//example.com/a",
            "https:/{}/example.com/a",
            "https://{}example.com/a",
            "https://exam{}ple.com/a",
            "https://example.com{}/a",
            "https://example.com:8{}0/a",
            "https://example.com/a{}b",
            "https://example.com/?a{}b",
            "https://example.com/#a{}b",
            "https://example.com/a{}",
        ] {
            let url = url.replace("{}", &blank.to_string());
            assert_eq!(refusal(&url).code(), ViolationCode::InvalidFormat, "{url:?}");
        }
    }
}

#[test]
fn contract_a_target_has_at_most_2048_characters() {
    let longest = format!("https://example.com/{}", "ü".repeat(2028));
    assert!(TargetUrl::parse(&longest).is_ok());
    assert_eq!(refusal(&format!("{longest}ü")).code(), ViolationCode::TooLong);
    // The length is checked before the form.
    assert_eq!(refusal(&" ".repeat(2049)).code(), ViolationCode::TooLong);
    assert_eq!(refusal(&" ".repeat(2048)).code(), ViolationCode::InvalidFormat);
}

#[test]
fn d24_the_message_says_what_is_wrong() {
    for (url, word) in [
        ("https://a b", "white space"),
        ("https://a\\b", "backslashes"),
        ("ftp://a", "http://"),
        ("https://u@a", "user name"),
        ("https://127.1", "host"),
        ("https://a:70000", "port"),
    ] {
        assert!(refusal(url).message().contains(word), "{url}");
    }
}

#[test]
fn scheme_and_port_are_read_with_their_defaults() {
    for (url, scheme, port, effective) in [
        ("http://a", UrlScheme::Http, None, 80),
        ("HTTPS://a", UrlScheme::Https, None, 443),
        ("https://a:443", UrlScheme::Https, Some(443), 443),
        ("https://a:", UrlScheme::Https, None, 443),
        ("http://a:08081", UrlScheme::Http, Some(8081), 8081),
        ("http://[::1]:1?:2", UrlScheme::Http, Some(1), 1),
    ] {
        let target = TargetUrl::parse(url).unwrap();
        assert_eq!(
            (target.scheme(), target.port(), target.effective_port()),
            (scheme, port, effective),
            "{url}"
        );
    }
}

#[test]
fn the_requested_path_is_resolved_and_decoded() {
    for (url, path) in [
        ("https://a", "/"),
        ("https://a?b", "/"),
        ("https://a/b%20c/", "/b c/"),
        ("https://a/b/../c/./d?e#f", "/c/d"),
        ("https://a/b/%2e%2E/c", "/c"),
        ("https://a/ü", "/ü"),
        ("https://a/%252f", "/%2f"),
    ] {
        assert_eq!(TargetUrl::parse(url).unwrap().requested_path().as_ref(), path.as_bytes(), "{url}");
    }
}

proptest! {
    /// Most paths take the fast path without parsing.
    #[test]
    fn d24_the_requested_path_is_what_a_browser_asks_for(path in "(/[aB7.~_-]{0,3}){0,5}[?#]?") {
        let url = format!("https://a{path}");
        let asked = Url::parse(&url).unwrap();
        let target = TargetUrl::parse(&url).unwrap();
        let requested = target.requested_path();
        prop_assert_eq!(requested.as_ref(), asked.path().as_bytes());
    }
}

/// Texts that are targets, or nearly targets.
fn near_target() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        4 => "[a-zA-Z0-9_-]{1,8}(\\.[a-zA-Z0-9-]{1,6}){0,3}\\.?",
        2 => "[a-züÄßéжЖ例🦀٣א]{1,6}(\\.[a-zübéж]{1,4}){0,2}\\.?",
        1 => "[0-9]{1,3}(\\.[0-9]{1,3}){3}",
        1 => any::<std::net::Ipv6Addr>().prop_map(|address| format!("[{address}]")),
        1 => "\\PC{1,8}",
    ];
    let port = prop_oneof![3 => Just(String::new()), 1 => ":[0-9]{0,5}"];
    let rest = prop_oneof![
        3 => "(/[!-\\[\\]-~]{0,20})?(\\?[!-\\[\\]-~]{0,10})?(#[!-\\[\\]-~]{0,10})?",
        3 => "(/[a-z%./üé例🦀\u{301}\u{200b}\u{ffff}]{0,20})?(\\?[a-z=&üß'\"<>]{0,10})?(#[a-züß`]{0,10})?",
        1 => "/\\PC{0,20}",
    ];
    ("[hH][tT]{2}[pP][sS]?://", host, port, rest).prop_map(|(a, b, c, d)| format!("{a}{b}{c}{d}"))
}

/// Whether the location has only visible ASCII characters and is the same URL as the target.
fn has_a_clean_location(target: &TargetUrl) -> Result<(), TestCaseError> {
    let (text, location) = (target.as_str(), target.location());
    prop_assert!(location.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{}", location);
    prop_assert_eq!(Url::parse(&location).unwrap(), Url::parse(text).unwrap());
    if text.is_ascii() {
        prop_assert_eq!(&location, text);
    }
    // The sent location is itself a target that is sent unchanged, unless encoding made it too long.
    if location.len() <= TargetUrl::MAX_CHARS {
        prop_assert_eq!(TargetUrl::parse(&location).unwrap().location(), location);
    }
    Ok(())
}

/// The pieces of generated targets. They are joined directly, because `near_target` would take minutes for so
/// many.
#[rustfmt::skip]
const PIECES: [&str; 64] = [
    "a", "Z", "9", "~", "-", "_", ".", "..", "/", "//", "?", "&", "=", "#", "%", "%2F", "%0d%0a", "%00", "%ff", "%E5%98%8A", "+", ";",
    ",", ":", "@", "!", "$", "'", "(", ")", "*", "[", "]", "|", "^", "{", "}", "`", "\"", "<", ">", "ä", "ß", "é", "例", "🦀", "\u{301}",
    "\u{200b}", "\u{202e}", "\u{feff}", "\u{ffff}", "\u{10ffff}", "嘊嘍", "Location:", "https://evil.example", "<script>", "../../",
    "%252e", "?url=", "&amp;", "\u{ad}", "\u{2060}", "ﬁ", "İ",
];

/// The beginnings of generated targets.
const STARTS: [&str; 16] = [
    "http://example.com/",
    "https://example.com",
    "HTTPS://Example.COM:8443/",
    "https://bücher.example/",
    "https://例え.テスト/",
    "http://192.0.2.7/",
    "http://[2001:db8::1]/",
    "https://[::ffff:192.0.2.7]:80/",
    "http://xn--bcher-kva.example/",
    "https://a_b.example.com./",
    "https://straße.example?",
    "https://ΣΑΣ.example#",
    "http://a.b.c.d.example:1/",
    "https://example.com:/",
    "https://éxample.com/é?é#",
    "http://a/",
];

#[test]
fn d53_r10_a_hundred_thousand_targets_have_clean_locations() {
    // Xorshift, so that every run uses the same targets.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut targets = 0;
    while targets < 100_000 {
        let mut text = STARTS[draw(STARTS.len())].to_owned();
        for _ in 0..draw(7) {
            text.push_str(PIECES[draw(PIECES.len())]);
        }
        if let Ok(target) = TargetUrl::parse(&text) {
            has_a_clean_location(&target).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            targets += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn d53_a_location_is_visible_ascii_and_means_the_same_url(text in near_target()) {
        if let Ok(target) = TargetUrl::parse(&text) {
            has_a_clean_location(&target)?;
        }
    }

    #[test]
    fn d24_a_target_is_kept_exactly_as_given(text in near_target()) {
        if let Ok(target) = TargetUrl::parse(&text) {
            prop_assert_eq!(target.as_str(), &text);
            prop_assert_eq!(TargetUrl::parse(target.as_str()), Ok(target.clone()));
        }
    }

    #[test]
    fn d24_an_accepted_host_is_the_host_that_a_browser_visits(text in near_target()) {
        if let Ok(target) = TargetUrl::parse(&text) {
            let url = Url::parse(&text).unwrap();
            prop_assert_eq!(url.host_str().unwrap().trim_end_matches('.'), target.host());
            prop_assert_eq!(url.port_or_known_default(), Some(target.effective_port()));
            prop_assert_eq!((url.username(), url.password()), ("", None));
        }
    }

    #[test]
    fn plain_addresses_are_targets(
        text in "https?://[a-z][a-z0-9]{0,8}(\\.[a-z]{2,5}){1,3}(:[1-9][0-9]{0,3})?(/[a-zA-Z0-9_.~-]{0,8}){0,4}",
    ) {
        prop_assert!(TargetUrl::parse(&text).is_ok());
    }

    #[test]
    fn any_text_is_a_target_or_refused_with_one_of_two_codes(text in "(?s).{0,60}") {
        if let Err(error) = TargetUrl::parse(&text) {
            prop_assert_eq!(error.code(), ViolationCode::InvalidFormat);
        }
    }
}
