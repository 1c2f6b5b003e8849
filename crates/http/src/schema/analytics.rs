//! Analytics (D46, D66).

use signpost_domain::analytics::{Dimension, Interval, MAX_BUCKETS, MAX_VALUES};
use utoipa::openapi::schema::ObjectBuilder;

use super::Components;
use super::fields::timestamp;
use super::object::{Property, always, closed_object, count, kind, list, maybe, named, string};

/// The components about analytics.
pub(crate) fn components() -> Components {
    let bucket = [always("start", timestamp("When the local hour, day, week or month begins; UTC."))];
    let report = closed_object(
        "What was counted in a period.",
        [
            always("object", kind("analytics")),
            always("start_date", timestamp("The first millisecond of the period; UTC.")),
            always(
                "end_date",
                timestamp("The last millisecond of the period, which is not in the future; UTC."),
            ),
            always(
                "timezone",
                string("The zone that cuts the buckets, as the IANA database spells it.")
                    .examples(["Europe/Berlin"]),
            ),
            always(
                "interval",
                string("What the buckets are.").enum_values(Some(Interval::ALL.map(Interval::as_str))),
            ),
            always("totals", named("AnalyticsCounts")),
            always(
                "series",
                list(
                    "Every bucket that the period touches, also empty ones, in order.",
                    named("AnalyticsBucket"),
                )
                .min_items(Some(1))
                .max_items(Some(MAX_BUCKETS)),
            ),
            always("dimensions", dimensions()),
        ],
    );
    let value = closed_object(
        "What was counted of one value. Of a `widget` these are the visits of the widget itself.",
        [
            always("value", string("The value; empty if it is unknown.").examples(["DE"])),
            always("clicks", count("Clicks.")),
            always("visitors", count("Distinct visitors among them.")),
        ],
    );
    vec![
        ("Analytics", report.into()),
        ("AnalyticsCounts", closed_object("What was counted.", counts()).into()),
        ("AnalyticsBucket", closed_object("One bucket.", bucket.into_iter().chain(counts())).into()),
        ("AnalyticsValue", value.into()),
        ("ExportedClick", click().into()),
        ("ExportedClicks", string("A header with the names of the fields, and a row for each click.").into()),
    ]
}

fn counts() -> [Property; 4] {
    [
        always("clicks", count("Visitors sent on, or shown a landing page.")),
        always(
            "visitors",
            count("Distinct visitors among the clicks. One who comes on two days (UTC) counts on each."),
        ),
        always("bots", count("Visits of known bots, link previewers and prefetches; they are no clicks.")),
        always("blocked", count("Visits that antibot or a country block turned away; they are no clicks.")),
    ]
}

fn dimensions() -> ObjectBuilder {
    let values = || {
        list(
            "The values with the most clicks, most first; as many of them are in the order of the values.",
            named("AnalyticsValue"),
        )
        .max_items(Some(MAX_VALUES))
    };
    let properties = Dimension::ALL.map(|dimension| maybe(dimension.as_str(), values()));
    closed_object("The dimensions that were asked for, in that order.", properties)
}

/// A line of NDJSON.
fn click() -> ObjectBuilder {
    let own = [
        always(
            "id",
            string("The click's id. Ids ascend.").pattern(Some("^clk_[0-9a-f]{12}[lr][0-9a-f]{33,40}$")),
        ),
        always("at", timestamp("When; UTC, with milliseconds.")),
        always(
            "link_id",
            string("The redirect or landing page.").pattern(Some("^(?:lnd|rdr)_[0-9a-f]{32}$")),
        ),
        always("kind", string("What it counts as; the list is open.").examples(["click", "bot", "blocked"])),
    ];
    let values = Dimension::RECORDED.map(|dimension| {
        always(
            dimension.as_str(),
            string(&format!("The value of `{}`; empty if it is unknown.", dimension.as_str())),
        )
    });
    closed_object("A click of an export.", own.into_iter().chain(values))
}
