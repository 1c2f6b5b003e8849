use std::net::Ipv4Addr;

use crate::{Enricher, Sent, Sources};

/// Checks the channels of clicks, each given by its referrer and query.
fn channels(clicks: &[(&str, &str, &str)]) {
    let mut enricher = Enricher::new(Sources::default());
    for (referrer, query, expected) in clicks {
        let sent = Sent {
            user_agent: b"x",
            referrer: referrer.as_bytes(),
            accept_language: b"",
            query: query.as_bytes(),
            purpose: b"",
            address: Ipv4Addr::LOCALHOST.into(),
        };
        assert_eq!(enricher.facts(&sent, None).channel, *expected, "{referrer} ?{query}");
    }
}

#[test]
fn d47_click_without_a_source_is_direct() {
    channels(&[
        ("", "", "direct"),
        ("", "id=7", "direct"),
        ("garbage", "", "direct"),
        ("https://google.com/", "utm_source=(direct)&utm_medium=(none)", "direct"),
        ("", "utm_campaign=autumn", "referral"),
    ]);
}

#[test]
fn d59_scanned_code_is_qr_despite_other_marks() {
    channels(&[
        ("", "src=qr", "qr"),
        ("https://facebook.com/", "src=qr&utm_source=google&utm_medium=cpc", "qr"),
        ("", "utm_source=poster&utm_medium=qr", "qr"),
    ]);
}

#[test]
fn d47_referrer_alone_decides_by_its_category() {
    channels(&[
        ("https://www.google.co.uk/", "", "organic_search"),
        ("https://duckduckgo.com/", "", "organic_search"),
        ("https://l.facebook.com/l.php?u=x", "", "organic_social"),
        ("https://t.co/abc", "", "organic_social"),
        ("https://www.youtube.com/watch?v=1", "", "organic_video"),
        ("https://www.amazon.de/dp/1", "", "organic_shopping"),
        ("https://mail.google.com/", "", "email"),
        ("https://web.whatsapp.com/", "", "messenger"),
        ("https://chatgpt.com/", "", "ai_assistant"),
        ("https://www.perplexity.ai/search", "", "ai_assistant"),
        ("https://open.spotify.com/", "", "audio"),
        ("https://docs.google.com/", "", "referral"),
        ("https://example.com/", "", "referral"),
        ("http://192.0.2.7/", "", "referral"),
        ("android-app://com.slack/", "", "messenger"),
        ("android-app://com.google.android.gm/", "", "email"),
        ("android-app://example.unknown/", "", "referral"),
    ]);
}

#[test]
fn d47_paid_medium_decides_with_the_category_of_the_source() {
    channels(&[
        ("", "utm_source=google&utm_medium=cpc", "paid_search"),
        ("", "utm_source=facebook&utm_medium=paid", "paid_social"),
        ("", "utm_source=youtube&utm_medium=cpv-cpc", "paid_video"),
        ("", "utm_source=amazon&utm_medium=ppc", "paid_shopping"),
        ("", "utm_source=acme&utm_medium=cpc&utm_campaign=Shopping+ads", "paid_shopping"),
        ("", "utm_source=acme&utm_medium=cpc&utm_campaign=workshop", "paid_other"),
        ("", "utm_source=acme&utm_medium=paid_social", "paid_social"),
        ("", "utm_source=acme&utm_medium=cpm", "display"),
        ("", "utm_source=chatgpt.com&utm_medium=cpc", "paid_other"),
        ("https://www.google.com/", "utm_medium=cpc", "paid_search"),
        ("https://www.google.com/", "utm_source=acme&utm_medium=cpc", "paid_other"),
        ("", "utm_medium=retargeting", "paid_other"),
    ]);
}

#[test]
fn d47_click_ids_of_paid_clicks_imply_paid() {
    channels(&[
        ("https://www.google.com/", "gclid=x", "paid_search"),
        ("", "gclid=x", "paid_search"),
        ("https://www.youtube.com/", "gclid=x", "paid_video"),
        ("", "msclkid=x", "paid_search"),
        ("", "ttclid=x", "paid_social"),
        ("", "dclid=x", "display"),
        ("", "fbclid=x", "organic_social"),
        ("https://l.messenger.com/", "fbclid=x", "messenger"),
        ("", "gclid=x&utm_source=acme&utm_medium=email", "email"),
        ("", "mc_eid=x", "email"),
    ]);
}

#[test]
fn d47_medium_of_delivery_overrides_the_source() {
    channels(&[
        ("", "utm_source=google&utm_medium=email", "email"),
        ("https://www.facebook.com/", "utm_source=x&utm_medium=sms", "sms"),
        ("", "utm_medium=affiliate", "affiliate"),
        ("", "utm_medium=banner", "display"),
        ("", "utm_medium=podcast", "audio"),
        ("", "utm_medium=web-push", "push"),
        ("", "utm_medium=mobile+notification", "push"),
        ("", "utm_medium=WhatsApp", "messenger"),
    ]);
}

#[test]
fn d47_unpaid_sources_and_mediums_follow_google() {
    channels(&[
        ("", "utm_source=linkedin&utm_medium=post", "organic_social"),
        ("", "utm_source=acme&utm_medium=social-media", "organic_social"),
        ("", "utm_source=acme&utm_medium=organic", "organic_search"),
        ("", "utm_source=acme&utm_medium=video", "organic_video"),
        ("", "utm_source=acme&utm_campaign=eshop", "organic_shopping"),
        ("", "utm_source=chatgpt.com", "ai_assistant"),
        ("", "utm_source=newsletter", "email"),
        ("", "utm_source=acme&utm_medium=referral", "referral"),
        ("https://www.reddit.com/", "utm_source=acme", "organic_social"),
        ("https://www.reddit.com/", "utm_source=acme&utm_medium=other", "referral"),
    ]);
}
