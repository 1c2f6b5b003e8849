//! Patterns of the document match the texts that the domain's types accept.

use proptest::prelude::*;
use serde_json::{Value, json};
use signpost_domain::{
    AccentColor, AltText, CountryCode, Description, Email, Hostname, HostnameRules, LanguageTag,
    LinkPassword, Name, Note, PhoneNumber, PixelCode, PixelType, PreviewTitle, Slug, SocialNetwork,
    SystemDomain, TagName, TargetUrl, UtmValue, WidgetText,
};

use super::DOCUMENT;

/// Whether the schema of a field of a new redirect accepts the text.
fn passes(field: &str, text: &str) -> bool {
    let schemas = &DOCUMENT["components"]["schemas"];
    let schema = match field {
        "geo_blocklists" => &schemas["GeoBlocklistsInput"]["properties"]["countries"]["items"],
        field => &schemas["RedirectCreate"]["properties"][field],
    };
    DOCUMENT.mismatches(schema, &json!(text)).is_empty()
}

/// Whether the schema of a field of a component accepts the text.
fn fits(component: &str, field: &str, text: &str) -> bool {
    let schema = &DOCUMENT["components"]["schemas"][component]["properties"][field];
    assert!(schema.is_object(), "{component} {field}");
    DOCUMENT.mismatches(schema, &json!(text)).is_empty()
}

fn target_is_valid(text: &str) -> bool {
    TargetUrl::parse(text).is_ok()
}

#[test]
fn d24_the_pattern_of_targets_matches_accepted_targets() {
    for text in [
        "https://example.com",
        "HTTP://Example.COM:8443/x?y#z",
        "http://localhost",
        "http://3com",
        "http://a.3com.",
        "http://a.b.c.d.e.f.g.example.com/",
        "http://0x7f.example",
        "http://127.0.0.1",
        "http://255.255.255.255:65535",
        "http://127.0.0.-1",
        "http://a:",
        "http://a:000443/",
        "http://[::1]",
        "http://[::]",
        "http://[2001:db8::a:1]:80/",
        "http://[1:2:3:4:5:6:7:8]",
        "http://[1:2:3:4:5:6:7::]",
        "http://bücher.example",
        "http://donaudampfschifffahrtsgesellschaftskapitänsmütze.example",
        "http://[::ffff:192.0.2.1]/",
        "http://xn--bcher-kva.example",
        "http://عربي.example/",
        "http://BÜCHER.example",
        "https://例え.テスト/パス",
        "https://пример.example/путь",
        "https://example.com/嘊?🦀#\u{200b}",
        "https://example.com/%zz{|}^`\"<>[]",
    ] {
        assert!(target_is_valid(text), "{text}");
        assert!(passes("target_url", text), "{text}");
    }
}

#[test]
fn d24_the_pattern_of_targets_refuses_obvious_mistakes() {
    for text in [
        "",
        "example.com",
        "ftp://example.com",
        "http:/example.com",
        "http:///example.com",
        "http://",
        "http://:80",
        "http://a/ b",
        "http://a/\u{a0}",
        "http://a/\u{85}",
        "http://a/\n",
        "http://a\n",
        "http://a/\\",
        " http://a",
    ] {
        assert!(!target_is_valid(text), "{text}");
        assert!(!passes("target_url", text), "{text}");
    }
}

#[test]
fn d26_the_pattern_of_countries_matches_the_assigned_codes() {
    let letters = || ('A'..='Z').chain('a'..='z').chain(['1', ' ', 'é']);
    for code in letters().flat_map(|first| letters().map(move |second| format!("{first}{second}"))) {
        assert_eq!(passes("geo_blocklists", &code), CountryCode::parse(&code).is_ok(), "{code}");
    }
    for code in ["", "D", "DEU", "DE\n", " DE"] {
        assert!(!passes("geo_blocklists", code), "{code:?}");
    }
}

#[test]
fn d3_timestamps_have_exactly_three_fractional_digits() {
    let schema = &DOCUMENT["components"]["schemas"]["Group"]["properties"]["created_at"];
    let fits = |text: &str| DOCUMENT.mismatches(schema, &json!(text)).is_empty();
    assert!(fits("2026-01-31T09:05:07.042Z"));
    for text in [
        "2026-01-31T09:05:07Z",
        "2026-01-31T09:05:07.0420Z",
        "2026-01-31T09:05:07.042+00:00",
        "2026-13-31T09:05:07.042Z",
    ] {
        assert!(!fits(text), "{text}");
    }
}

/// Texts of characters that matter in names.
fn near_a_name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("a".to_owned()),
        2 => prop::sample::select(vec![" ", "\t", "\n", "\r", "\u{85}", "\u{a0}", "\u{2003}", "\u{3000}", "\u{200b}"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["\0", "\u{1b}", "\u{7f}", "\u{9b}", "ü", "🦀", "\u{feff}", "\u{ad}"])
            .prop_map(str::to_owned),
        1 => "[b]{90,100}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Texts of characters that matter in the names of tags.
fn near_a_tag() -> impl Strategy<Value = String> {
    (near_a_name(), prop::sample::select(vec!["", ",", "a,b", "b"]), "[b]{0,52}").prop_map(
        |(start, middle, end)| format!("{}{middle}{end}", start.chars().take(8).collect::<String>()),
    )
}

/// URLs and similar texts.
fn near_a_target() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        "[a-zA-Z0-9_-]{1,5}(\\.[a-zA-Z0-9_-]{1,5}){0,3}\\.?",
        "[0-9xX.]{1,9}",
        "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
        "\\[[0-9a-f:]{1,20}\\]",
        "[a-z.:@\\[\\]%! ü]{0,8}",
        "[a-zA-Z0-9À-ÖØ-öø-įŁ-ňŊ-žΑ-ΡΣ-Ωα-ωЀ-џぁ-ゖァ-ヺ一-龥가-힣_-]{1,11}(\\.[À-ÖΑ-Ρа-я一-龥가-힣a-z]{1,11}){0,8}\\.example",
    ];
    let port = prop_oneof![Just(String::new()), "(:[0-9]{0,6})", "(:[a-z])"];
    let rest = prop_oneof![Just(String::new()), "[/?#][ -~]{0,8}", "[/?#]\\PC{0,4}"];
    let scheme = prop_oneof![5 => Just("https://".to_owned()), 1 => "[hH]ttps?:/{1,3}", 1 => "[a-z]{2,5}://"];
    (scheme, host, port, rest).prop_map(|(scheme, host, port, rest)| format!("{scheme}{host}{port}{rest}"))
}

/// Texts of characters that matter in email addresses.
fn near_an_email() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z.+ü]{1,3}",
        3 => Just("@".to_owned()),
        1 => prop::sample::select(vec![" ", "\t", "\u{a0}", "\u{85}", "\0", "\u{7f}", "\u{200b}"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Whether the hostname may be connected, if no other account holds it.
fn hostname_is_valid(text: &str) -> bool {
    let system = SystemDomain::new("https://go.example.com", vec![]).unwrap();
    HostnameRules::new(system, None, [].into()).check(text).is_ok()
}

/// Hostnames and similar texts.
fn near_a_hostname() -> impl Strategy<Value = String> {
    let label = "[a-zA-Z0-9-]{1,4}|[a-z]{62,64}|[a-z0-9_ü*]{0,3}";
    let space = || prop::sample::select(vec!["", " ", "\t", "\n", "\u{a0}", "\u{3000}", "\u{200b}"]);
    (space(), prop::collection::vec(label, 0..5), "(\\.(com|co\\.uk|shop))?\\.?", space())
        .prop_map(|(before, labels, end, behind)| format!("{before}{}{end}{behind}", labels.join(".")))
}

/// Contract D37: from the shortest to the longest, with ignored white space.
#[test]
fn d37_the_pattern_of_hostnames_matches_accepted_hostnames_and_little_else() {
    let full = |letter: &str| letter.repeat(63);
    let longest = format!("{}.{}.{}.{}.com", "d".repeat(57), full("a"), full("b"), full("c"));
    assert_eq!(longest.len(), Hostname::MAX_CHARS);
    let tallest = format!("{}.com", full("a"));
    for text in ["a.cc", "Links.Shop.COM.", &longest, &format!("\u{3000}{longest}.\n"), &tallest] {
        assert!(hostname_is_valid(text), "{text}");
        assert!(fits("DomainCreate", "hostname", text), "{text}");
    }
    for text in
        ["", "shop", ".com", "-a.com", "a_b.com", "*.shop.com", "bücher.com", "a.com:80", "a.com/", "a.com\0"]
    {
        assert!(!hostname_is_valid(text), "{text}");
        assert!(!fits("DomainCreate", "hostname", text), "{text}");
    }
}

/// The pattern covers the characters of all vendors' codes, but not their lengths.
#[test]
fn d36_the_pattern_of_pixels_matches_the_codes_of_every_vendor() {
    let codes = [
        "G-1A2BCD345E",
        "GTM-AB12CDE",
        "123456789012345",
        "C4A1B2C3D4E5F6G7H8I9",
        "1234567",
        "o1abc",
        "2612345678901",
        "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f",
        "t2_1ab2cd3e",
        "12345678",
    ];
    for (pixel_type, code) in PixelType::ALL.into_iter().zip(codes) {
        assert!(PixelCode::parse(pixel_type, code).is_ok(), "{code}");
        assert!(fits("PixelCreate", "pixel_id", code), "{code}");
    }
    for code in ["", "G-<", "a b", "1'", "é"] {
        assert!(PixelType::ALL.iter().all(|kind| PixelCode::parse(*kind, code).is_err()), "{code}");
        assert!(!fits("PixelCreate", "pixel_id", code), "{code}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn d34_d35_the_patterns_of_texts_match_exactly_the_texts(
        text in prop_oneof![near_a_name(), "[a-z\\n\\r\\t\\x00-\\x1f\\x7f-\\x9f]{0,4}", "ü{48,52}|ü{198,202}|ü{498,502}|ü{1998,2002}"]
    ) {
        prop_assert_eq!(fits("LandingCreate", "description", &text), Description::parse(&text).is_ok());
        prop_assert_eq!(fits("TextWidgetInput", "text", &text), WidgetText::parse(&text).is_ok());
        prop_assert_eq!(fits("ImageWidgetInput", "alt", &text), AltText::parse(&text).is_ok());
        prop_assert_eq!(fits("SocialWidgetInput", "network", &text), SocialNetwork::parse(&text).is_ok());
        prop_assert_eq!(fits("HeadingWidgetInput", "text", &text), Name::parse(&text).is_ok());
    }

    #[test]
    fn d34_the_pattern_of_colours_matches_exactly_the_colours(text in "#?[0-9a-hA-H]{5,7}|#[0-9a-fA-F]{6}\n?") {
        prop_assert_eq!(fits("LandingCreate", "accent_color", &text), AccentColor::parse(&text).is_ok());
    }

    #[test]
    fn d34_the_pattern_of_languages_matches_exactly_the_tags(
        text in prop_oneof!["[a-zA-Z]{1,4}(-[a-zA-Z0-9]{0,9}){0,5}", "[a-z]{2}(-([a-zA-Z]{2,4}|[0-9]{3,4}|[a-z0-9]|[ _é])){0,6}"]
    ) {
        prop_assert_eq!(fits("LandingCreate", "language", &text), LanguageTag::parse(&text).is_ok(), "{}", text);
    }

    #[test]
    fn d35_the_pattern_of_numbers_matches_exactly_the_numbers(text in "[+]{0,2}[0-9]{5,17}[ a\n]?") {
        prop_assert_eq!(fits("ContactWidgetInput", "number", &text), PhoneNumber::parse(&text).is_ok());
    }

    #[test]
    fn d35_the_pattern_of_addresses_matches_exactly_the_short_addresses(text in near_an_email()) {
        prop_assert_eq!(fits("EmailWidgetInput", "address", &text), Email::parse(&text).is_ok());
    }

    #[test]
    fn d9_the_pattern_of_names_matches_exactly_the_names(text in near_a_name()) {
        prop_assert_eq!(passes("name", &text), Name::parse(&text).is_ok());
    }

    #[test]
    fn d122_the_pattern_of_tags_matches_exactly_their_names(text in near_a_tag()) {
        prop_assert_eq!(fits("TagPatch", "name", &text), TagName::parse(&text).is_ok());
        let of_links = &DOCUMENT["components"]["schemas"]["RedirectCreate"]["properties"]["tags"]["items"];
        prop_assert_eq!(DOCUMENT.mismatches(of_links, &json!(text)).is_empty(), TagName::parse(&text).is_ok());
    }

    #[test]
    fn d132_the_pattern_of_parameters_matches_exactly_their_values(text in "\\PC{0,3}|[ \t\n\u{3000}a]{0,5}|\\PC{250,258}") {
        prop_assert_eq!(fits("UtmInput", "source", &text), UtmValue::parse(&text).is_ok());
    }

    #[test]
    fn d135_the_patterns_of_cards_match_exactly_their_texts(
        text in "\\PC{0,3}|[ \t\n\u{3000}a]{0,5}|\\PC{195,203}|ü{498,502}"
    ) {
        prop_assert_eq!(fits("LinkPreviewInput", "title", &text), PreviewTitle::parse(&text).is_ok());
        prop_assert_eq!(fits("LinkPreviewInput", "description", &text), Description::parse(&text).is_ok());
    }

    #[test]
    fn d21_the_pattern_of_slugs_matches_exactly_the_slugs(text in "[a-zA-Z0-9_. ü-]{0,3}|[a-z]{60,66}|[a-z]\n") {
        prop_assert_eq!(passes("slug", &text), Slug::parse(&text).is_ok());
    }

    #[test]
    fn d25_the_pattern_of_notes_matches_exactly_the_notes(text in "(?s).{0,20}|\\PC{250,260}") {
        prop_assert_eq!(passes("note", &text), Note::parse(&text).is_ok());
    }

    /// D37: the pattern matches every accepted hostname.
    #[test]
    fn d37_the_pattern_of_hostnames_matches_every_hostname(text in near_a_hostname()) {
        prop_assert!(fits("DomainCreate", "hostname", &text) || !hostname_is_valid(&text), "{}", text);
    }

    /// D24: the pattern matches every accepted target.
    #[test]
    fn d24_the_pattern_of_targets_matches_every_target(text in near_a_target()) {
        prop_assert!(passes("target_url", &text) || !target_is_valid(&text), "{}", text);
    }
}

#[test]
fn length_bounds_match_the_domain() {
    let properties = &DOCUMENT["components"]["schemas"]["RedirectCreate"]["properties"];
    let most =
        |field: &str| properties[field]["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok());
    assert_eq!(most("target_url"), Some(TargetUrl::MAX_CHARS));
    assert_eq!(most("note"), Some(Note::MAX_CHARS));
    assert_eq!(most("slug"), Some(Slug::MAX_CHARS));
    assert_eq!(most("password"), Some(LinkPassword::MAX_CHARS));
    assert_eq!(properties["password"]["minLength"], json!(LinkPassword::MIN_CHARS));
    assert_eq!(properties["password"]["writeOnly"], json!(true), "D131");
    // A name is trimmed before its characters are counted, so the sent text has no bound.
    assert_eq!(properties["name"].get("maxLength"), None::<&Value>);
}
