//! Statistics in English.

use signpost_domain::analytics::{Dimension, Interval, OTHER_VALUES};

use super::AnalyticsTexts;
use super::english_countries::country;

pub(super) static ANALYTICS: AnalyticsTexts = AnalyticsTexts {
    dimension,
    interval,
    value,
    all_domains: "All domains",
    all_links: "All links",
    all_numbers: "All numbers",
    apply: "Show",
    at_most: |n| format!("At most {n} values are shown."),
    automatic: "Automatic",
    before: |a| format!("{a} before"),
    blocked: "Blocked",
    bot: "bot",
    bots: "Bots",
    busy: "Other questions about this account are running, and this one did not get its turn. Try again in a moment.",
    change_new: "new",
    chart: |a, b| format!("{a}, {b}"),
    clamped: |a| format!("Your plan does not reach back further, so the period begins on {a}."),
    click: "click",
    clicks: "Clicks",
    created_later: |a| format!("This was created on {a}. Nothing was recorded before."),
    csv: "Save as CSV",
    curl_report: "This report",
    dates_missing: "Choose the first and the last day.",
    dates_reversed: "The first day must not be after the last.",
    days: |n| format!("{n} days"),
    deleted: |a| format!("{a} (deleted)"),
    devices: "Places and devices",
    domain: "Domain",
    exclude: |a| format!("Not {a}"),
    explanation: "Bots and blocked visits are never among the clicks. A visitor of two days (UTC) counts on each.",
    dimensions: "Dimensions",
    fewer_values: "Show fewer",
    filters: "Filters",
    from: "From",
    future: "The period has not begun yet.",
    in_zone: |a, b| format!("{a}, {b} time"),
    interval_label: "Interval",
    is: |a, b| format!("{a}: {b}"),
    is_not: |a, b| format!("{a}: not {b}"),
    legend_before: |a| format!("Dashed: the previous period, {a}."),
    legend_partial: "Outlined: not over yet, or only partly in the period.",
    live: |a, b| format!("Last 30 minutes: {a}, {b}"),
    live_is_old: "not current",
    more_values: "Show more",
    no_clicks: "No clicks.",
    no_comparison: "The previous period is not compared, because your plan no longer keeps all of it.",
    no_match: "No visit in this period matches the filters.",
    no_rule: "No rule: its own target",
    no_visits: "No visits in this period. They appear here within a minute.",
    not_counted: "This link was created with counting turned off, so it has no statistics.",
    not_kept: |a| format!("Your plan does not keep clicks from before {a}."),
    other_choice: "Other period, interval or links",
    other_period: "Other period or interval",
    other_values: "All others",
    partial: |a| format!("{a} (partly)"),
    period: "Period",
    previous_is_late: "The previous period could not be read in time. Reload the page to compare.",
    remove_filters: "Remove all",
    show_all: "Show all",
    sources: "Sources",
    targets: "Targets",
    title: "Statistics",
    nav: "Stats",
    title_of: |a| format!("Statistics of {a}"),
    title_of_group: |a| format!("Statistics of the group {a}"),
    title_on: |a, b| format!("{a} on {b}"),
    title_ungrouped: "Statistics of links without a group",
    to: "To",
    today: "Today",
    too_long: |n| {
        if n == 1 {
            "Your plan shows at most one day at a time. Choose a shorter period.".to_owned()
        } else {
            format!("Your plan shows at most {n} days at a time. Choose a shorter period.")
        }
    },
    too_many_buckets,
    too_much: "The address has too many or too long filters, so there is no report. Remove some.",
    twelve_months: "12 months",
    unavailable: "The statistics cannot be read right now. Links keep working, and their clicks are counted. Try again in a minute.",
    unknown: "Unknown",
    visitor: "visitor",
    visitors: "Visitors",
    week_from: |a| format!("Week from {a}"),
    widget_filter: "With a filter by widget, clicks and visitors are 0, because they count visits of the page and not clicks on its widgets. “Targets” has the clicks on the widget.",
    with_before: |a, b| format!("{a} (before: {b})"),
};

fn too_many_buckets(long_enough: &[&str]) -> String {
    let names: Vec<String> = long_enough.iter().map(|name| name.to_lowercase()).collect();
    match names.as_slice() {
        [] => "Choose a shorter period.".to_owned(),
        [only] => format!("For a period this long, choose {only}."),
        [others @ .., last] => format!("For a period this long, choose {} or {last}.", others.join(", ")),
    }
}

const fn dimension(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Channel => "Channels",
        Dimension::Country => "Countries",
        Dimension::Device => "Devices",
        Dimension::Os => "Operating systems",
        Dimension::Browser => "Browsers",
        Dimension::Language => "Languages",
        Dimension::Referrer => "Referrers",
        Dimension::UtmSource => "UTM source",
        Dimension::UtmMedium => "UTM medium",
        Dimension::UtmCampaign => "UTM campaign",
        Dimension::Widget => "Widgets",
        Dimension::Rule => "Rules",
        Dimension::Link => "Links",
    }
}

const fn interval(interval: Interval) -> &'static str {
    match interval {
        Interval::Hour => "Hours",
        Interval::Day => "Days",
        Interval::Week => "Weeks",
        Interval::Month => "Months",
    }
}

fn value(dimension: Dimension, value: &str) -> Option<&'static str> {
    if value.is_empty() {
        return Some(if dimension == Dimension::Rule { ANALYTICS.no_rule } else { ANALYTICS.unknown });
    }
    if value == OTHER_VALUES {
        return Some(ANALYTICS.other_values);
    }
    match dimension {
        Dimension::Channel => channel(value),
        Dimension::Country => country(value),
        Dimension::Device => device(value),
        _ => None,
    }
}

fn channel(value: &str) -> Option<&'static str> {
    Some(match value {
        "direct" => "Direct",
        "organic_search" => "Organic search",
        "paid_search" => "Paid search",
        "organic_social" => "Organic social",
        "paid_social" => "Paid social",
        "organic_video" => "Organic video",
        "paid_video" => "Paid video",
        "organic_shopping" => "Organic shopping",
        "paid_shopping" => "Paid shopping",
        "email" => "E-mail",
        "messenger" => "Messenger",
        "sms" => "SMS",
        "push" => "Push message",
        "display" => "Display",
        "affiliate" => "Affiliate",
        "audio" => "Audio",
        "ai_assistant" => "AI assistant",
        "qr" => "QR code",
        "paid_other" => "Other paid",
        "referral" => "Referral",
        _ => return None,
    })
}

pub(super) fn device(value: &str) -> Option<&'static str> {
    Some(match value {
        "desktop" => "Desktop",
        "mobile" => "Phone",
        "tablet" => "Tablet",
        "tv" => "TV",
        "other" => "Other",
        _ => return None,
    })
}
