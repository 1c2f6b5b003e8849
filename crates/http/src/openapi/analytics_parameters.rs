//! Parameters of analytics: the components (D45, D66).

use serde_json::json;
use signpost_domain::analytics::{Dimension, Interval, MAX_VALUES};
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::parameters::{Name, in_query, text};

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

/// What every question about a redirect takes.
pub(super) const OF_REDIRECT_REPORTS: &[Name] =
    with_filters!["RedirectId", "StartDate", "EndDate", "TimeZone", "Interval", "Dimensions", "ValueLimit"];

/// What every question about a landing page takes.
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

/// What every question about the account takes.
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

/// What every export of a redirect takes.
pub(super) const OF_REDIRECT_EXPORTS: &[Name] =
    with_filters!["RedirectId", "StartDate", "EndDate", "TimeZone", "LineFormat", "AfterClick"];

/// What every export of a landing page takes.
pub(super) const OF_LANDING_EXPORTS: &[Name] = with_filters![
    "LandingId",
    "StartDate",
    "EndDate",
    "TimeZone",
    "LineFormat",
    "AfterClick",
    "WidgetFilter"
];

/// What every export of the account takes.
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
                .description(Some("The first millisecond of the period, counted from 1970 in UTC. It is included.")),
        ),
        (
            "EndDate",
            in_query("end_date", instant().examples([json!(1_772_236_799_999_i64)])).required(Required::True).description(
                Some(
                    "The last millisecond of the period, counted from 1970 in UTC. It is included. One in the future means \
                     now.",
                ),
            ),
        ),
        (
            "TimeZone",
            in_query("timezone", text().default(Some(json!("UTC"))).examples(["Europe/Berlin"])).description(Some(
                "By whose clock hours, days, weeks and months begin: a name of the IANA database.",
            )),
        ),
        (
            "Interval",
            in_query(
                "interval",
                text()
                    .enum_values(Some(Interval::ALL.map(Interval::as_str)))
                    .default(Some(json!(Interval::default().as_str()))),
            )
            .description(Some(
                "The buckets of `series`: local hours, days, ISO weeks or months. There are at most 2,000 of them.",
            )),
        ),
        (
            "Dimensions",
            in_query("dimensions", text().examples(["country,referrer"])).description(Some(
                "By what clicks are counted: up to 8 of `channel`, `country`, `device`, `os`, `browser`, `language`, \
                 `referrer`, `utm_source`, `utm_medium`, `utm_campaign`, for a landing page `widget`, and for the account \
                 `link`, between commas.",
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
            .description(Some("How many values of each dimension the answer has at most.")),
        ),
        (
            "LineFormat",
            in_query("format", text().enum_values(Some(["ndjson", "csv"])).default(Some(json!("ndjson"))))
                .description(Some(
                    "`ndjson`: a JSON object a line. `csv`: RFC 4180 with a header; a value that a spreadsheet would take \
                     for a formula has an apostrophe before it.",
                )),
        ),
        (
            "AfterClick",
            in_query("after", text().pattern(Some("^clk_[0-9a-f]{12}[lr][0-9a-f]{33,40}$"))).description(Some(
                "Only clicks behind the one with this id: the last one of a stream that broke off.",
            )),
        ),
        (
            "WithClicks",
            in_query("with", text().enum_values(Some(["clicks"])))
                .description(Some("`clicks` adds `clicks_7d` and `last_clicked_at` to each link.")),
        ),
    ];
    filters.into_iter().chain(others).map(|(name, parameter)| (name, parameter.build()))
}

fn instant() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0))
}

fn filter(dimension: Dimension) -> ParameterBuilder {
    let name = dimension.as_str();
    in_query(name, text()).description(Some(format!(
        "Only clicks with one of these values of `{name}`, between commas; behind a leading `-`, only clicks with none of \
         them. An empty value stands for unknown. A backslash makes a comma, a hyphen or a backslash a part of the value. \
         At most 100 values of at most 256 bytes."
    )))
}
