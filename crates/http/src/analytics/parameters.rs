//! Parameters of analytics: the components (D45, D66).

use serde_json::json;
use signpost_domain::analytics::{Dimension, Interval, MAX_VALUES};
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::openapi::parameters::{Name, in_query, text};
use crate::schema::{Components, integer, matching, named, only};

/// The names of an operation's parameters, and those of the filters that all operations of analytics take.
macro_rules! with_filters {
    ($($name:literal),*) => {
        &[
            $($name,)*
            "ChannelFilter",
            "CountryFilter",
            "DeviceFilter",
            "OsFilter",
            "BrowserFilter",
            "LanguageFilter",
            "ReferrerFilter",
            "UtmSourceFilter",
            "UtmMediumFilter",
            "UtmCampaignFilter",
        ]
    };
}

/// The parameters of a redirect's report.
pub(super) const OF_REDIRECT_REPORTS: &[Name] = with_filters![
    "RedirectId",
    "StartDate",
    "EndDate",
    "TimeZone",
    "Interval",
    "Dimensions",
    "ValueLimit",
    "RuleFilter"
];

/// The parameters of a landing page's report.
pub(super) const OF_LANDING_REPORTS: &[Name] = with_filters![
    "LandingId",
    "StartDate",
    "EndDate",
    "TimeZone",
    "Interval",
    "Dimensions",
    "ValueLimit",
    "WidgetFilter"
];

/// The parameters of the account's report.
pub(super) const OF_ACCOUNT_REPORTS: &[Name] = with_filters![
    "StartDate",
    "EndDate",
    "TimeZone",
    "Interval",
    "Dimensions",
    "ValueLimit",
    "GroupFilter",
    "DomainFilter",
    "LinkFilter"
];

/// The parameters of a redirect's export.
pub(super) const OF_REDIRECT_EXPORTS: &[Name] =
    with_filters!["RedirectId", "StartDate", "EndDate", "TimeZone", "LineFormat", "AfterClick", "RuleFilter"];

/// The parameters of a landing page's export.
pub(super) const OF_LANDING_EXPORTS: &[Name] = with_filters![
    "LandingId",
    "StartDate",
    "EndDate",
    "TimeZone",
    "LineFormat",
    "AfterClick",
    "WidgetFilter"
];

/// The parameters of the account's export.
pub(super) const OF_ACCOUNT_EXPORTS: &[Name] = with_filters![
    "StartDate",
    "EndDate",
    "TimeZone",
    "LineFormat",
    "AfterClick",
    "GroupFilter",
    "DomainFilter",
    "LinkFilter"
];

/// The component of each dimension's filter.
const FILTERS: [(Name, Dimension); Dimension::ALL.len()] = [
    ("ChannelFilter", Dimension::Channel),
    ("CountryFilter", Dimension::Country),
    ("DeviceFilter", Dimension::Device),
    ("OsFilter", Dimension::Os),
    ("BrowserFilter", Dimension::Browser),
    ("LanguageFilter", Dimension::Language),
    ("ReferrerFilter", Dimension::Referrer),
    ("UtmSourceFilter", Dimension::UtmSource),
    ("UtmMediumFilter", Dimension::UtmMedium),
    ("UtmCampaignFilter", Dimension::UtmCampaign),
    ("WidgetFilter", Dimension::Widget),
    ("RuleFilter", Dimension::Rule),
    ("LinkFilter", Dimension::Link),
];

/// Every component: its name and the parameter.
pub(super) fn all() -> impl Iterator<Item = (Name, Parameter)> {
    let filters = FILTERS.map(|(name, dimension)| (name, filter(dimension)));
    let others = [
        (
            "StartDate",
            in_query("start_date", instant().examples([json!(1_769_817_600_000_i64)]))
                .required(Required::True)
                .description(Some("The first millisecond of the period, inclusive, in milliseconds since 1970 in UTC.")),
        ),
        (
            "EndDate",
            in_query("end_date", instant().examples([json!(1_772_236_799_999_i64)])).required(Required::True).description(
                Some(
                    "The last millisecond of the period, inclusive, in milliseconds since 1970 in UTC. A value in the future \
                     means now.",
                ),
            ),
        ),
        (
            "TimeZone",
            in_query("timezone", text().default(Some(json!("UTC"))).examples(["Europe/Berlin"])).description(Some(
                "The time zone that hours, days, weeks and months follow: a name of the IANA database.",
            )),
        ),
        (
            "Interval",
            in_query("interval", named("Interval")).description(Some(
                "The buckets of `series`: local hours, days, ISO weeks or months, at most 2,000. Left out: `day`.",
            )),
        ),
        (
            "Dimensions",
            in_query("dimensions", text().examples(["country,referrer"])).description(Some(
                "The dimensions to count clicks by, separated by commas. Up to 8 of `channel`, `country`, `device`, `os`, \
                 `browser`, `language`, `referrer`, `utm_source`, `utm_medium`, `utm_campaign`; for a redirect also `rule`, \
                 for a landing page also `widget`, and for the account also `link`.",
            )),
        ),
        (
            "ValueLimit",
            in_query(
                "limit",
                ObjectBuilder::new()
                    .schema_type(Type::Integer)
                    .minimum(Some(1))
                    .maximum(Some(MAX_VALUES))
                    .default(Some(json!(25))),
            )
            .description(Some("The maximum number of values of each dimension.")),
        ),
        (
            "LineFormat",
            in_query("format", named("LineFormat"))
                .description(Some(
                    "`ndjson`: one JSON object per line. `csv`: RFC 4180 with a header; a value that a spreadsheet would \
                     run as a formula starts with an apostrophe. Left out: `ndjson`.",
                )),
        ),
        (
            "AfterClick",
            in_query("after", matching(text(), "^clk_[0-9a-f]{12}[lr][0-9a-f]{33,40}$")).description(Some(
                "Only clicks after the one with this id, such as the last one of an interrupted stream.",
            )),
        ),
        (
            "WithClicks",
            in_query("with", only(text(), "clicks"))
                .description(Some("`clicks` adds `clicks_7d` and `last_clicked_at` to each link.")),
        ),
    ];
    filters.into_iter().chain(others).map(|(name, parameter)| (name, parameter.build()))
}

/// The schemas that parameters name.
pub(super) fn schemas() -> Components {
    let interval = text().enum_values(Some(Interval::ALL.map(Interval::as_str)));
    let line_format = text().enum_values(Some(["ndjson", "csv"]));
    vec![
        ("Interval", interval.description(Some("A unit of buckets.")).into()),
        ("LineFormat", line_format.description(Some("The form of an export.")).into()),
    ]
}

fn instant() -> ObjectBuilder {
    integer().minimum(Some(0))
}

fn filter(dimension: Dimension) -> ParameterBuilder {
    let name = dimension.as_str();
    in_query(name, text()).description(Some(format!(
        "Only clicks with one of these values of `{name}`, separated by commas. After a leading `-`, only clicks without \
         these values. An empty value means unknown. A backslash escapes a comma, a hyphen or a backslash. \
         At most 100 values of at most 256 bytes."
    )))
}
