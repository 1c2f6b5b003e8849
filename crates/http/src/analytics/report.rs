//! `GET /v1/redirects/{id}/analytics`, `GET /v1/landings/{id}/analytics` and `GET /v1/analytics` (D45, D46).

use actix_web::{HttpResponse, web};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use signpost_app::{Application, analytics};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Counts, Dimension, Report, ValueCounts};

use super::by;
use super::query::{self, QuestionQuery, Subject};
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyQuery, PathId};
use crate::resources::links::LinkResource;
use crate::wire::{self, Text};

/// Answers a question about a link.
pub(crate) async fn of_link<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let asked = query::question(input, Subject::Link(K::LINK_KIND), app.clock.now())?;
    let frame = Frame::of(&asked);
    let deadline = app.analytics.deadline();
    let report = by(deadline, analytics::of_link(&app, &caller, id.0, asked.asked, deadline)).await?;
    wire::ok(&frame.around(report))
}

/// Answers a question about the account.
pub(crate) async fn of_account(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let asked = query::question(input, Subject::Account, app.clock.now())?;
    let frame = Frame::of(&asked);
    let deadline = app.analytics.deadline();
    let work = analytics::of_account(&app, &caller, asked.links, asked.asked, deadline);
    wire::ok(&frame.around(by(deadline, work).await?))
}

/// What an answer repeats of its question.
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

#[derive(Serialize)]
struct ReportBody {
    object: &'static str,
    start_date: Text<Timestamp>,
    end_date: Text<Timestamp>,
    timezone: String,
    interval: &'static str,
    totals: CountsBody,
    series: Vec<BucketBody>,
    dimensions: DimensionsBody,
}

#[derive(Serialize)]
struct CountsBody {
    clicks: u64,
    visitors: u64,
    bots: u64,
    blocked: u64,
}

#[derive(Serialize)]
struct BucketBody {
    start: Text<Timestamp>,
    #[serde(flatten)]
    counts: CountsBody,
}

/// By name, in the order of the question.
struct DimensionsBody(Vec<(Dimension, Vec<ValueCounts>)>);

#[derive(Serialize)]
struct ValueBody<'a> {
    value: &'a str,
    clicks: u64,
    visitors: u64,
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
