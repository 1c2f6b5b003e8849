//! Facts from the built-in lists and from the operator's own.

use std::net::Ipv4Addr;

use signpost_domain::CountryCode;
use signpost_enrichment::{Enricher, Facts, Sent, SourceKind, Sources};

const FIREFOX: &[u8] = b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn sent() -> Sent<'static> {
    Sent {
        user_agent: FIREFOX,
        referrer: b"",
        accept_language: b"",
        query: b"",
        purpose: b"",
        address: Ipv4Addr::LOCALHOST.into(),
    }
}

#[test]
fn d47_click_has_all_its_facts() {
    let sent = Sent {
        referrer: b"https://www.linkedin.com/feed/",
        accept_language: b"fr-CH, fr;q=0.9",
        query: b"utm_source=LinkedIn&utm_medium=Post&utm_campaign=Herbst%202026",
        address: [193, 0, 6, 139].into(),
        ..sent()
    };
    let expected = Facts {
        is_bot: false,
        channel: "organic_social",
        country: "NL",
        device: "desktop",
        os: "Linux".into(),
        browser: "Firefox".into(),
        language: "fr".into(),
        referrer: "linkedin.com".into(),
        utm_source: "linkedin".into(),
        utm_medium: "post".into(),
        utm_campaign: "Herbst 2026".into(),
    };
    let mut enricher = Enricher::new(Sources::default());
    assert_eq!(enricher.facts(&sent, None), expected);
    let country = CountryCode::parse("CH").ok();
    assert_eq!(enricher.facts(&sent, country), Facts { country: "CH", ..expected });
}

#[test]
fn visitors_who_send_the_same_are_alike_in_any_country() {
    let mut enricher = Enricher::new(Sources::default());
    let elsewhere = Sent { address: [193, 0, 6, 139].into(), ..sent() };
    let (here, there) = (enricher.facts_of_alike(&sent(), None), enricher.facts_of_alike(&elsewhere, None));
    assert_eq!((here.number, &here.facts), (there.number, &there.facts));
    assert_eq!((here.country, there.country), ("", "NL"));
    for other in [
        Sent { user_agent: b"another", ..sent() },
        Sent { referrer: b"a", ..sent() },
        Sent { accept_language: b"a", ..sent() },
        Sent { query: b"a", ..sent() },
        Sent { purpose: b"a", ..sent() },
    ] {
        assert_ne!(enricher.facts_of_alike(&other, None).number, here.number, "{other:?}");
    }
    assert_eq!(enricher.facts_of_alike(&sent(), None), here);
}

#[test]
fn d48_page_fetched_before_a_visit_counts_as_bot() {
    let mut enricher = Enricher::new(Sources::default());
    assert!(!enricher.facts(&sent(), None).is_bot);
    assert!(enricher.facts(&Sent { purpose: b"prefetch;prerender", ..sent() }, None).is_bot);
    assert!(!enricher.facts(&sent(), None).is_bot, "the next click with this agent counts as a person");
}

#[test]
fn d47_app_counts_as_the_host_of_its_service() {
    let mut enricher = Enricher::new(Sources::default());
    let facts = enricher.facts(&Sent { referrer: b"android-app://com.Slack/", ..sent() }, None);
    assert_eq!((&*facts.referrer, facts.channel), ("slack.com", "messenger"));
    let facts = enricher.facts(&Sent { referrer: b"android-app://example.unknown", ..sent() }, None);
    assert_eq!((&*facts.referrer, facts.channel), ("example.unknown", "referral"));
    // Facebook's app names a host.
    let facts = enricher.facts(&Sent { referrer: b"android-app://m.facebook.com/", ..sent() }, None);
    assert_eq!((&*facts.referrer, facts.channel), ("m.facebook.com", "organic_social"));
}

#[test]
fn d47_marks_are_found_behind_long_other_parameters() {
    let mut enricher = Enricher::new(Sources::default());
    let japanese = "%E6%98%A5".repeat(100);
    let query = format!("x={}&utm_campaign={japanese}&utm_source=News", "y".repeat(7_000));
    let facts = enricher.facts(&Sent { query: query.as_bytes(), ..sent() }, None);
    assert_eq!((&*facts.utm_campaign, &*facts.utm_source), (&*"\u{6625}".repeat(100), "news"));
}

#[test]
fn own_texts_replace_the_built_in_lists() {
    let sources = Sources::default()
        .with_channels("# ours\nshop.example\tshopping\n")
        .and_then(|sources| sources.with_assistants("brain.example\n"))
        .and_then(|sources| sources.with_agents("browser\tFirefox\tFuchs\nos\t(Lin)ux\t\n"))
        .and_then(|sources| sources.with_crawlers("X11; .*rv:140\n"))
        .unwrap();
    let mut enricher = Enricher::new(sources);
    for (referrer, channel) in [
        ("https://m.shop.example/", "organic_shopping"),
        ("https://brain.example/", "ai_assistant"),
        ("https://www.google.com/", "referral"),
        ("https://chatgpt.com/", "referral"),
    ] {
        let facts = enricher.facts(&Sent { referrer: referrer.as_bytes(), ..sent() }, None);
        assert_eq!(facts.channel, channel, "{referrer}");
        assert_eq!((&*facts.browser, &*facts.os, facts.is_bot), ("Fuchs", "Lin", true));
    }
}

#[test]
fn invalid_text_is_refused_with_its_list_and_line() {
    let kind_and_line = |result: Result<Sources, signpost_enrichment::SourceError>| {
        let error = result.err().unwrap();
        (error.kind, error.line)
    };
    let sources = Sources::default;
    assert_eq!(kind_and_line(sources().with_channels("a\tb")), (SourceKind::Channels, 1));
    assert_eq!(kind_and_line(sources().with_assistants("a.example\nB")), (SourceKind::Assistants, 2));
    assert_eq!(kind_and_line(sources().with_agents("\nos\t(")), (SourceKind::Agents, 2));
    assert_eq!(kind_and_line(sources().with_crawlers("#\n#\n[")), (SourceKind::Crawlers, 3));
}

#[test]
fn enricher_can_move_to_its_thread() {
    let mut enricher = Enricher::new(Sources::default());
    let thread = std::thread::spawn(move || enricher.facts(&sent(), None).device);
    assert_eq!(thread.join().unwrap(), "desktop");
}
