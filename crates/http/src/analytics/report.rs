//! `GET /v1/redirects/{id}/analytics`, `GET /v1/landings/{id}/analytics` and `GET /v1/analytics` (D45, D46).

use actix_web::{HttpResponse, web};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use signpost_app::{Application, analytics};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{
    Counts, Dimension, Interval, MAX_BUCKETS, MAX_VALUES, Report, ReportSubject, ValueCounts,
};
use utoipa::openapi::schema::ObjectBuilder;

use super::query::{self, QuestionQuery};
use super::until;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyQuery, PathId};
use crate::resources::links::LinkEndpoints;
use crate::schema::{
    Components, FieldType, count, kind, list, maybe, named, one_of_known, open_object, shown, string,
    timestamp,
};
use crate::wire::{self, Text};

/// Reports the clicks of a link.
pub(crate) async fn of_link<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let asked = query::question(input, ReportSubject::Link(K::LINK_KIND), app.clock.now())?;
    let frame = Frame::of(&asked);
    let deadline = app.analytics.deadline();
    let report = until(deadline, analytics::of_link(&app, &caller, id.0, asked.asked, deadline)).await?;
    wire::ok(&frame.around(report))
}

/// Reports the clicks of the account.
pub(crate) async fn of_account(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let asked = query::question(input, ReportSubject::Account, app.clock.now())?;
    let frame = Frame::of(&asked);
    let deadline = app.analytics.deadline();
    let work = analytics::of_account(&app, &caller, asked.links, asked.asked, deadline);
    wire::ok(&frame.around(until(deadline, work).await?))
}

/// The parts of the question that the response repeats.
struct Frame {
    start_date: Timestamp,
    end_date: Timestamp,
    timezone: String,
    interval: &'static str,
    starts: Vec<Timestamp>,
    dimensions: Vec<Dimension>,
}

impl Frame {
    fn of(query: &QuestionQuery) -> Self {
        let QuestionQuery { asked, links: _, interval } = query;
        Self {
            start_date: asked.period.first(),
            end_date: asked.period.last(),
            timezone: asked.zone.name().to_owned(),
            interval: interval.as_str(),
            starts: asked.buckets.starts().to_vec(),
            dimensions: asked.dimensions.clone(),
        }
    }

    fn around(self, report: Report) -> ReportBody {
        let Self { start_date, end_date, timezone, interval, starts, dimensions } = self;
        let Report { totals, series, dimensions: values } = report;
        let bucket = |(start, counts)| BucketBody { start: Text(start), counts: CountsBody::from(counts) };
        ReportBody {
            object: "analytics",
            start_date: Text(start_date),
            end_date: Text(end_date),
            timezone,
            interval,
            totals: totals.into(),
            series: starts.into_iter().zip(series).map(bucket).collect(),
            dimensions: DimensionsBody(dimensions.into_iter().zip(values).collect()),
        }
    }
}

shown! {
    struct ReportBody {
        object: &'static str = kind("analytics"),
        start_date: Text<Timestamp> = timestamp("The first millisecond of the period; UTC."),
        end_date: Text<Timestamp> =
            timestamp("The last millisecond of the period, which is not in the future; UTC."),
        timezone: String = string("The time zone of the buckets, in the spelling of the IANA database.")
            .examples(["Europe/Berlin"]),
        interval: &'static str =
            one_of_known(string("The unit of the buckets."), Interval::ALL.map(Interval::as_str)),
        totals: CountsBody = named("AnalyticsCounts"),
        series: Vec<BucketBody> = list(
            "Every bucket of the period in order, including empty ones.",
            named("AnalyticsBucket"),
        )
        .min_items(Some(1))
        .max_items(Some(MAX_BUCKETS)),
        dimensions: DimensionsBody = named("AnalyticsDimensions"),
    }
}

shown! {
    struct CountsBody {
        clicks: u64 = count("Visits that were sent on or that saw a landing page."),
        visitors: u64 =
            count("Distinct visitors among the clicks. A visitor on two days (UTC) counts on each."),
        bots: u64 = count("Visits of known bots, link previewers and prefetches, which do not count as clicks."),
        blocked: u64 = count("Visits that antibot or a country block refused, which do not count as clicks."),
    }
}

shown! {
    struct BucketBody {
        start: Text<Timestamp> = timestamp("The start of the local hour, day, week or month; UTC."),
        + counts: CountsBody,
    }
}

/// By name, in the order of the question.
struct DimensionsBody(Vec<(Dimension, Vec<ValueCounts>)>);

impl FieldType for DimensionsBody {}

shown! {
    struct ValueBody<'a> {
        value: &'a str = string("The value; empty if it is unknown, and for `rule` if no rule sent the visitors on.").examples(["DE"]),
        clicks: u64 = count("Clicks."),
        visitors: u64 = count("Distinct visitors among them."),
    }
}

fn dimensions_schema() -> ObjectBuilder {
    let values = || {
        list(
            "The values with the most clicks, in descending order. Values with equal clicks are ordered by value.",
            named("AnalyticsValue"),
        )
        .max_items(Some(MAX_VALUES))
    };
    let properties = Dimension::ALL.map(|dimension| maybe(dimension.as_str(), values()));
    open_object("The requested dimensions, in the order of the request.", properties)
}

/// The OpenAPI components of reports.
pub(crate) fn components() -> Components {
    let value = open_object(
        "The counts of one value. For a `widget` these are the visits of the widget itself.",
        ValueBody::properties(),
    );
    vec![
        ("Analytics", open_object("The counts of a period.", ReportBody::properties()).into()),
        ("AnalyticsCounts", open_object("The counts.", CountsBody::properties()).into()),
        ("AnalyticsBucket", open_object("One bucket.", BucketBody::properties()).into()),
        ("AnalyticsValue", value.into()),
        ("AnalyticsDimensions", dimensions_schema().into()),
    ]
}

impl From<Counts> for CountsBody {
    fn from(counts: Counts) -> Self {
        let Counts { clicks, visitors, bots, blocked } = counts;
        Self { clicks, visitors, bots, blocked }
    }
}

impl Serialize for DimensionsBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (dimension, values) in &self.0 {
            let values: Vec<_> = values
                .iter()
                .map(|ValueCounts { value, clicks, visitors }| ValueBody {
                    value,
                    clicks: *clicks,
                    visitors: *visitors,
                })
                .collect();
            map.serialize_entry(dimension.as_str(), &values)?;
        }
        map.end()
    }
}
