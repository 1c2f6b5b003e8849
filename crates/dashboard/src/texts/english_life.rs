//! The life of links in English.

use super::LifeTexts;

pub(super) static LIFE: LifeTexts = LifeTexts {
    active_hint: "Turned off, the link stops opening; its statistics stay.",
    choose: "Choose one",
    clicks_left: "Clicks left",
    domain_inactive: "Domain out of service",
    exhausted: "Used up",
    expired: |a| format!("Expired, ended {a}"),
    expires_at: "End",
    expires_at_hint: |a| {
        format!("In the time zone {a}. From then on the link has ended. Empty: it never ends.")
    },
    fallback_url: "Address after the end",
    fallback_url_hint: "Where visitors are sent once the link has ended. Empty: where its domain sends them, or a page that says so.",
    first: |a| format!("The first one, {a} in UTC"),
    is_live: "Your link is live",
    is_saved: "Your link is saved, and does not open now",
    lost: "No address",
    max_clicks: "Most clicks",
    max_clicks_hint: "The link sends on this many visits and no more; then it has ended. Bots and previews do not count, and do not get the target. From 1 to 1,000,000,000. Empty: no limit.",
    max_clicks_kept: "Your plan has no limits on visits. Empty the field to remove this one; you cannot set another.",
    max_clicks_missing: "Most clicks: your plan has no limits on visits.",
    no_address: "This link lost its domain and has no address. Choose another domain.",
    no_number: "must be a whole number in digits alone, such as 1000",
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
    the_start: "the start",
    title: "Start and end",
    which: |a| format!("{a}: which of the two?"),
    which_chosen: |a, b| format!("{a} ({b})"),
};
