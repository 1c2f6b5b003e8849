//! Samples of statistics.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    AnalyticsPage, AnalyticsReport, BucketRow, Chart, Choice, Column, DimensionBars, LinkScopeFields,
    LiveFigures, NavItem, RangeForm, StateLink, Total, ValueBar,
};
use signpost_domain::analytics::Dimension;

use crate::link_samples::LONG;
use crate::samples::Maker;

pub(crate) fn add(m: &Maker) {
    let full = account(m);
    m.add("analytics", &full);
    let back = Some((m.w("/acc_019b5a3b11aa7c3e8899aabbccddee01/links/rdr_1"), m.w("Autumn sale")));
    let shell = m.shell(&(ENGLISH.analytics.title_of)(LONG), NavItem::Links);
    let mut form = full.form.clone();
    form.links = None;
    let one = AnalyticsPage { shell, back, form, report: Some(report(m, 1)), ..full.clone() };
    m.add("analytics-link", &one);
    let empty = AnalyticsReport {
        empty: m.some(ENGLISH.analytics.no_visits),
        dimensions: Vec::new(),
        ..report(m, 24)
    };
    m.add("analytics-empty", &AnalyticsPage { report: Some(empty), ..full.clone() });
    let alone = AnalyticsReport { before: None, ..report(m, 62) };
    let shell = m.loud_shell(ENGLISH.analytics.title, NavItem::Analytics);
    let alone = AnalyticsReport { dimensions: Vec::new(), ..alone };
    m.add("analytics-viewer", &AnalyticsPage { shell, report: Some(alone), ..full.clone() });
    let problem = m.some(&(ENGLISH.analytics.too_long)(30));
    m.add("analytics-error", &AnalyticsPage { problem, report: None, ..full });
}

fn account(m: &Maker) -> AnalyticsPage {
    let link =
        |label: &str, href: &str, is_current| StateLink { label: m.w(label), href: m.w(href), is_current };
    AnalyticsPage {
        live: Some(LiveFigures {
            text: m.w("Last 30 minutes: 12 clicks, 8 visitors"),
            href: "/acc_019b5a3b11aa7c3e8899aabbccddee01/analytics/live".to_owned(),
        }),
        shell: m.shell(ENGLISH.analytics.title, NavItem::Analytics),
        back: None,
        presets: vec![
            link("Today", "?range=today&country=DE&device=-mobile", false),
            link("7 days", "?range=7d&country=DE&device=-mobile", false),
            link("30 days", "?country=DE&device=-mobile", true),
            link("90 days", "?range=90d&country=DE&device=-mobile", false),
            link("12 months", "?range=12m&country=DE&device=-mobile", false),
        ],
        form: RangeForm {
            from: m.w("2026-10-28"),
            to: m.w("2026-11-26"),
            today: m.w("2026-11-26"),
            intervals: vec![
                Choice::new("", m.w("Automatic"), true),
                Choice::new("hour", m.w("Hours"), false),
                Choice::new("day", m.w("Days"), false),
            ],
            links: Some(LinkScopeFields {
                groups: vec![Choice::new("", m.w("All links"), true), Choice::new("none", m.w(LONG), false)],
                domains: vec![
                    Choice::new("", m.w("All domains"), false),
                    Choice::new("go.morgenbrot.example", m.w("go.morgenbrot.example"), true),
                    Choice::new("morgenbrot.example", m.w("morgenbrot.example"), false),
                ],
            }),
            kept: vec![("country".to_owned(), m.w("DE")), ("device".to_owned(), m.w("-mobile"))],
            is_open: false,
        },
        filters: vec![
            link("Countries: DE", "?device=-mobile", true),
            link("Devices: not Phone", "?country=DE", true),
        ],
        without_filters: m.w("?"),
        notes: vec![m.w(&(ENGLISH.analytics.clamped)("28 Oct 2026"))],
        problem: None,
        report: Some(report(m, 30)),
    }
}

fn report(m: &Maker, buckets: usize) -> AnalyticsReport {
    let count = |place: usize| u64::try_from(place * 37 % 23 * 61).unwrap();
    let total = |name: &str, count: &str, change: &str, is_drawn| Total {
        name: m.w(name),
        count: m.w(count),
        change: m.w(change),
        before: m.w("12,075 before"),
        href: m.w("?show=visitors&country=DE&device=-mobile"),
        is_drawn,
    };
    let column = |place: usize| Column {
        label: m.w(&format!("{} Nov", place % 30 + 1)),
        text: m.w(&format!(
            "{} Nov 2026: {} clicks (before: {})",
            place % 30 + 1,
            count(place),
            count(place + 5)
        )),
        value: count(place),
        before: Some(count(place + 5)),
        is_partial: place + 1 == buckets,
    };
    let row = |place: usize| BucketRow {
        name: m.w(&format!("{} Nov 2026", place % 30 + 1)),
        counts: [1, 2, 3, 4].map(|factor| m.w(&count(place * factor).to_string())),
        before: m.w(&count(place + 5).to_string()),
    };
    let value = |name: &str| ValueBar {
        name: m.w(name),
        clicks: m.w("1,204"),
        visitors: m.w("980"),
        percent: 61,
        only: m.w("?country=DE&device=-mobile&utm_campaign=autumn"),
        is_filtered: false,
        exclude: m.w("?country=DE&device=-mobile&utm_campaign=-autumn"),
        exclude_name: m.w(&(ENGLISH.analytics.exclude)(name)),
    };
    let bars = |dimension: Dimension| DimensionBars {
        id: dimension.as_str().to_owned(),
        name: m.w((ENGLISH.analytics.dimension)(dimension)),
        values: ["Direct", "Organic search", "Germany", "autumn", "newsletter.example"].map(value).into(),
        more: m.some("?country=DE&device=-mobile&values=25&values_of=country#country"),
        at_most: (dimension == Dimension::Channel).then(|| m.w(&(ENGLISH.analytics.at_most)(100))),
        fewer: (dimension == Dimension::Channel).then(|| m.w("?country=DE&device=-mobile#channel")),
    };
    AnalyticsReport {
        comparison: m.w(&(ENGLISH.analytics.legend_before)("28 Sep 2026 – 27 Oct 2026")),
        period: m.w("28 Oct 2026 – 26 Nov 2026, Europe/Berlin time"),
        totals: vec![
            total("Clicks", "13,480", "+12%", true),
            total("Visitors", "9,120", "−3%", false),
            total("Bots", "411", "±0%", false),
            total("Blocked", "0", "new", false),
        ],
        empty: None,
        chart: Chart {
            label: m.w("Clicks, 28 Oct 2026 – 26 Nov 2026"),
            columns: (0..buckets).map(column).collect(),
        },
        before: m.some("Clicks before"),
        rows: (0..buckets).map(row).collect(),
        parts: vec![
            StateLink { label: m.w("Sources"), href: m.w("?country=DE&device=-mobile"), is_current: true },
            StateLink { label: m.w("Devices"), href: m.w("?part=devices&country=DE"), is_current: false },
            StateLink { label: m.w("Targets"), href: m.w("?part=targets&country=DE"), is_current: false },
        ],
        dimensions: [
            Dimension::Channel,
            Dimension::Referrer,
            Dimension::UtmSource,
            Dimension::UtmMedium,
            Dimension::UtmCampaign,
        ]
        .map(bars)
        .into(),
        csv: m.w("/acc_019b5a3b11aa7c3e8899aabbccddee01/analytics.csv?country=DE&device=-mobile"),
    }
}
