//! The life and the way of links in English.

mod explain;

use signpost_domain::{LinkState, RedirectStatus, UtmPart};

use self::explain::EXPLAIN;
use super::english_rules::RULES;
use super::{LifeTexts, PreviewTexts};

pub(super) static LIFE: LifeTexts = LifeTexts {
    active_hint: "Turned off, the link stops opening; its statistics stay.",
    choose: "Choose one",
    clicks_left: "Clicks left",
    expired: |a| format!("Expired, ended {a}"),
    expires_at: "End",
    expires_at_hint: |a| {
        format!("In the time zone {a}. From then on the link has ended. Empty: it never ends.")
    },
    explain: &EXPLAIN,
    fallback_url: "Address after the end",
    fallback_url_hint: "Where visitors are sent once the link has ended. Empty: where its domain sends them, or a page that says so.",
    final_url: "Leads to",
    first: |a| format!("The first one, {a} in UTC"),
    forward_query: "Pass on parameters",
    forward_query_hint: "What visitors add to the link, such as ?ref=x, is added to the target. Parameters that the target has stay as they are.",
    is_live: "Your link is live",
    is_saved: "Your link is saved, and does not open now",
    max_clicks: "Most clicks",
    max_clicks_hint: "The link sends on this many visits and no more; then it has ended. Bots and previews do not count, and do not get the target. From 1 to 1,000,000,000. Empty: no limit.",
    max_clicks_kept: "Your plan has no limits on visits. Empty the field to remove this one; you cannot set another.",
    max_clicks_missing: "Most clicks: your plan has no limits on visits.",
    no_address: "This link lost its domain and has no address. Choose another domain.",
    no_number: "must be a whole number in digits alone, such as 1000",
    preview: &PREVIEW,
    redirect_status: "Redirect status",
    redirect_status_hint: "Browsers keep a permanent answer for up to 90 seconds: changes reach them later, and visits that they answer themselves are not counted. So a permanent one is refused beside a start, an end, most clicks, a password, rules, bots turned away, blocked countries or pixels.",
    redirect_status_name: status_name,
    rules: &RULES,
    scheduled: |a| format!("Scheduled, opens {a}"),
    second: |a| format!("The second one, {a} in UTC"),
    shown_twice: |a| {
        format!(
            "comes twice in the time zone {a}, because the clock is set back. Choose which of the two you mean"
        )
    },
    skipped: |a, b, c| {
        format!(
            "does not exist in the time zone {a}: the clock goes from {b} straight to {c}. Choose an earlier or a later time"
        )
    },
    starts_at: "Start",
    starts_at_hint: |a| {
        format!("In the time zone {a}. Until then the link does not open. Empty: it opens at once.")
    },
    state_name,
    switched: |is_on| if is_on { "Switched on" } else { "Switched off" },
    the_start: "the start",
    title: "Start and end",
    utm: "Campaign",
    utm_hint: "Added to the target as utm_source and so on, in place of its own parameters of these names.",
    utm_part: part,
    utm_part_hint: part_hint,
    way: "How visitors are sent on",
    which: |a| format!("{a}: which of the two?"),
    which_chosen: |a, b| format!("{a} ({b})"),
};

static PREVIEW: PreviewTexts = PreviewTexts {
    card_description: "Card description",
    card_description_hint: "Up to 500 characters. Most messengers show only the first hundred or two.",
    card_image_url: "Card picture",
    card_image_url_hint: "The address of a picture, which messengers load. A wide one of about 1200 × 630 pixels suits most of them.",
    card_title: "Card title",
    card_title_hint: "Up to 200 characters.",
    hint: "Messengers and social networks show this card where somebody shares the link. Visitors and search engines are sent on as ever. Without a title there is no card, and they show the card of the target.",
    hint_kept: "Your plan does not include cards. This link keeps its card; empty all three fields to remove it. You cannot set another.",
    hint_missing: "Your plan does not include cards. Messengers show the card of the target.",
    sketch_hint: "About what messengers show where somebody shares the link. Each arranges it in its own way, and keeps it for hours or days after a change.",
    title: "Card in messengers",
    title_needed: "must not be empty while the card has a description or a picture",
};

const fn state_name(state: LinkState) -> &'static str {
    match state {
        LinkState::Lost => "No address",
        LinkState::Inactive => "Inactive",
        LinkState::DomainInactive => "Domain out of service",
        LinkState::Scheduled => "Scheduled",
        LinkState::Expired => "Expired",
        LinkState::Exhausted => "Used up",
        LinkState::Active => "Active",
    }
}

const fn status_name(status: RedirectStatus) -> &'static str {
    match status {
        RedirectStatus::MovedPermanently => "301, permanent",
        RedirectStatus::Found => "302, temporary (usual)",
        RedirectStatus::TemporaryRedirect => "307, temporary, keeps the method",
        RedirectStatus::PermanentRedirect => "308, permanent, keeps the method",
    }
}

const fn part(part: UtmPart) -> &'static str {
    match part {
        UtmPart::Source => "Source",
        UtmPart::Medium => "Medium",
        UtmPart::Campaign => "Campaign name",
        UtmPart::Term => "Term",
        UtmPart::Content => "Content",
    }
}

const fn part_hint(part: UtmPart) -> &'static str {
    match part {
        UtmPart::Source => "Where visitors come from, such as newsletter.",
        UtmPart::Medium => "The kind of source, such as email.",
        UtmPart::Campaign => "The campaign, such as Autumn sale.",
        UtmPart::Term => "The keyword of an advertisement.",
        UtmPart::Content => "Which of several links it was, such as button.",
    }
}
