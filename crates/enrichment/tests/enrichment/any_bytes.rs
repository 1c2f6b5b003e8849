//! Facts are valid and short for any input.

use std::cell::RefCell;
use std::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;
use signpost_enrichment::{Enricher, Facts, Sent, Sources};

thread_local! {
    static ENRICHER: RefCell<Enricher> = RefCell::new(Enricher::new(Sources::default()));
}

const CHANNELS: [&str; 20] = [
    "direct",
    "organic_search",
    "paid_search",
    "organic_social",
    "paid_social",
    "organic_video",
    "paid_video",
    "organic_shopping",
    "paid_shopping",
    "email",
    "messenger",
    "sms",
    "push",
    "display",
    "affiliate",
    "audio",
    "ai_assistant",
    "qr",
    "paid_other",
    "referral",
];

/// Any bytes, and bytes that resemble valid input up to a point.
fn bytes(like: &'static str) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..600),
        like.prop_map(String::into_bytes),
        (like, vec(any::<u8>(), 0..40)).prop_map(|(like, tail)| [like.as_bytes(), &tail].concat()),
    ]
}

fn check(facts: &Facts) -> Result<(), TestCaseError> {
    let Facts {
        is_bot: _,
        channel,
        country,
        device,
        os,
        browser,
        language,
        referrer,
        utm_source,
        utm_medium,
        utm_campaign,
    } = facts;
    prop_assert!(CHANNELS.contains(channel), "{channel}");
    prop_assert!(country.is_empty() || country.len() == 2 && country.bytes().all(|b| b.is_ascii_uppercase()));
    prop_assert!(["", "desktop", "mobile", "tablet", "tv", "other"].contains(device), "{device}");
    prop_assert!(language.is_empty() || matches!(language.len(), 2 | 3));
    prop_assert!(language.bytes().all(|letter| letter.is_ascii_lowercase()));
    prop_assert!(referrer.len() <= 253);
    let host = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    prop_assert!(referrer.bytes().all(host), "{referrer}");
    prop_assert!(referrer.parse::<IpAddr>().is_err());
    for text in [os, browser, utm_source, utm_medium, utm_campaign] {
        prop_assert!(text.chars().count() <= 100, "{text}");
        prop_assert!(!text.chars().any(char::is_control), "{text:?}");
        prop_assert_eq!(text.trim(), &**text);
    }
    Ok(())
}

proptest! {
    #[test]
    fn d47_facts_of_any_bytes_are_valid_and_bounded(
        user_agent in bytes("[ -~]{0,80}(Mozilla/5\\.0|CFNetwork|Android|iPad)[ -~]{0,80}"),
        referrer in bytes("(https?|android-app)://[a-zA-Z0-9@:.\\[\\]-]{0,300}(/[ -~]{0,20})?"),
        accept_language in bytes("([a-zA-Z*]{1,4}(-[A-Z]{2})?(;q=[0-9.]{1,4})?,){0,4}"),
        query in bytes("(utm_source|utm_medium|utm_campaign|src|gclid)=[%a-zA-Z0-9+]{0,300}&utm_source=.{0,200}"),
        purpose in bytes("(prefetch|preview)?;?[a-z]{0,10}"),
        address in any::<IpAddr>(),
    ) {
        let sent = Sent {
            user_agent: &user_agent,
            referrer: &referrer,
            accept_language: &accept_language,
            query: &query,
            purpose: &purpose,
            address,
        };
        ENRICHER.with_borrow_mut(|enricher| {
            let facts = enricher.facts(&sent, None);
            check(&facts)?;
            // The second call answers from the cache.
            prop_assert_eq!(enricher.facts(&sent, None), facts);
            Ok(())
        })?;
    }
}
