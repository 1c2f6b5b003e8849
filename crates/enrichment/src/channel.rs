//! The channel of a click (D47), by the rules of Google Analytics 4's default channel group.
//!
//! ADR 43 explains the differences. A medium that says how the link was sent (email, SMS, push, …) takes
//! precedence over the source's category, and some channels are not Google's.

use crate::categories::Category;
use crate::query::{ClickId, Marks};

/// The channel of a click whose query has these marks.
///
/// `source` is the category of `utm_source` or, without one, of the referrer. `was_referred` says whether
/// there is a referrer.
pub(crate) fn channel(marks: &Marks, source: Option<Category>, was_referred: bool) -> &'static str {
    if marks.is_qr {
        return "qr";
    }
    if is_direct(marks, was_referred) {
        return "direct";
    }
    let medium = marks.medium.as_str();
    if is_paid(marks) {
        return paid(marks, source);
    }
    if marks.click_id == Some(ClickId::Display) && medium.is_empty() {
        return "display";
    }
    by_medium(medium)
        .or_else(|| source.and_then(organic))
        .or_else(|| by_organic_medium(marks))
        .unwrap_or("referral")
}

fn is_direct(marks: &Marks, was_referred: bool) -> bool {
    let Marks { source, medium, campaign, is_qr: _, click_id } = marks;
    let is_named_so = matches!(source.as_str(), "direct" | "(direct)")
        && matches!(medium.as_str(), "" | "none" | "(none)" | "(not set)");
    let says_nothing = source.is_empty() && medium.is_empty() && campaign.is_empty() && click_id.is_none();
    is_named_so || (says_nothing && !was_referred)
}

/// Whether the click was paid for: GA4's `^(.*cp.*|ppc|retargeting|paid.*)$`, or an advertiser's click id
/// unless the medium says otherwise.
fn is_paid(marks: &Marks) -> bool {
    let medium = marks.medium.as_str();
    if medium.is_empty() {
        return matches!(marks.click_id, Some(ClickId::Paid { .. }))
            || marks.campaign.contains("cross-network");
    }
    medium.contains("cp") || matches!(medium, "ppc" | "retargeting") || medium.starts_with("paid")
}

fn paid(marks: &Marks, source: Option<Category>) -> &'static str {
    let medium = marks.medium.as_str();
    match source {
        Some(Category::Shopping) => return "paid_shopping",
        _ if is_shop_campaign(&marks.campaign) => return "paid_shopping",
        Some(Category::Search) => return "paid_search",
        Some(Category::Social) => return "paid_social",
        Some(Category::Video) => return "paid_video",
        Some(Category::Display) => return "display",
        Some(Category::Audio) => return "audio",
        _ if medium == "cpm" => return "display",
        _ => {}
    }
    // `paid_social` decides alone, with any source.
    [
        ("shopping", "paid_shopping"),
        ("search", "paid_search"),
        ("social", "paid_social"),
        ("video", "paid_video"),
    ]
    .iter()
    .find(|(kind, _)| medium.contains(kind))
    .map_or("paid_other", |(_, channel)| channel)
}

/// The channel of a medium that says how the link was sent.
fn by_medium(medium: &str) -> Option<&'static str> {
    Some(match medium {
        "display" | "banner" | "expandable" | "interstitial" => "display",
        "email" | "e-mail" | "e_mail" | "e mail" | "newsletter" => "email",
        "affiliate" | "affiliates" => "affiliate",
        "audio" | "podcast" => "audio",
        "sms" => "sms",
        "messenger" | "whatsapp" | "telegram" | "chat" | "im" => "messenger",
        "qr" | "qrcode" | "qr-code" | "qr_code" => "qr",
        "ai-assistant" | "ai_assistant" => "ai_assistant",
        _ if medium.ends_with("push") || medium.contains("mobile") || medium.contains("notification") => {
            "push"
        }
        _ => return None,
    })
}

/// The channel of an unpaid click by the source's category. For sites without a category, the medium may
/// still decide.
fn organic(source: Category) -> Option<&'static str> {
    Some(match source {
        Category::Search => "organic_search",
        Category::Social => "organic_social",
        Category::Video => "organic_video",
        Category::Shopping => "organic_shopping",
        Category::Email => "email",
        Category::Messenger => "messenger",
        Category::Sms => "sms",
        Category::Push => "push",
        Category::Display => "display",
        Category::Affiliate => "affiliate",
        Category::Audio => "audio",
        Category::Assistant => "ai_assistant",
        Category::Referral => return None,
    })
}

fn by_organic_medium(marks: &Marks) -> Option<&'static str> {
    let medium = marks.medium.as_str();
    Some(match medium {
        "social" | "social-network" | "social-media" | "social_network" | "social_media" | "sm"
        | "social network" | "social media" => "organic_social",
        "organic" => "organic_search",
        _ if medium.contains("video") => "organic_video",
        _ if is_shop_campaign(&marks.campaign) => "organic_shopping",
        "" if marks.click_id == Some(ClickId::Email) => "email",
        _ => return None,
    })
}

/// GA4's `^(.*(([^a-df-z]|^)shop|shopping).*)$`: `shop` as a word or in `eshop`, but not in `workshop`.
fn is_shop_campaign(campaign: &str) -> bool {
    let campaign = campaign.to_lowercase();
    campaign.contains("shopping")
        || campaign.match_indices("shop").any(|(at, _)| {
            let before = campaign.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|before| before == 'e' || !before.is_ascii_lowercase())
        })
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
