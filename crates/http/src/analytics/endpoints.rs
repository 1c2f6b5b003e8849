//! The endpoints of analytics (D45, D66).

use actix_web::web;
use serde_json::{Value, json};
use signpost_domain::ErrorCode;
use signpost_domain::id::{LandingKind, RedirectKind};
use utoipa::openapi::{ContentBuilder, Response, ResponseBuilder};

use super::{PATH, clicks, parameters, report};
use crate::endpoint::RouteMethod;
use crate::openapi::headers::{self, RateLimited};
use crate::openapi::operation::{Endpoint, ok};
use crate::schema::{examples, named};

const REPORT: &str = "Counts clicks, visitors, bots and blocked visits of a period: in total, by bucket of local time, and by the \
                      requested dimensions. All filters must match. Counts are exact, never sampled. The plan limits the \
                      length of the period.";

const EXPORT: &str = "Streams the clicks, bots and blocked visits of a period in order of time, with the same filters as the \
                      report. Visits of widgets are not included. An account can run one export at a time and start one per \
                      minute; further ones get a 429. The request counts once against the quota. If the stream fails, the \
                      service closes the connection before the final chunk. Continue with `after` and the last id received.";

const RANGE: [ErrorCode; 2] =
    [ErrorCode::AnalyticsRangeExceedsPlanLimit, ErrorCode::AnalyticsTemporarilyUnavailable];

const OF_ACCOUNT: &[ErrorCode] = &RANGE;

const OF_REDIRECT: &[ErrorCode] =
    &[RANGE[0], RANGE[1], ErrorCode::RedirectNotFound, ErrorCode::AnalyticsNotConfigured];

const OF_LANDING: &[ErrorCode] =
    &[RANGE[0], RANGE[1], ErrorCode::LandingNotFound, ErrorCode::AnalyticsNotConfigured];

/// All of them, in the order of the documentation page.
pub(super) fn all() -> Vec<Endpoint> {
    let report_at = |summary, id, path, handler, parameters, errors| Endpoint {
        summary,
        description: REPORT,
        parameters,
        success: ok("The report.", "Analytics", example()),
        errors,
        ..Endpoint::new(id, RouteMethod::Get, path, handler)
    };
    let export_at = |summary, id, path, handler, parameters, errors| Endpoint {
        summary,
        description: EXPORT,
        parameters,
        success: ("200", lines()),
        errors,
        ..Endpoint::new(id, RouteMethod::Get, path, handler)
    };
    vec![
        report_at(
            "Count the clicks of the account",
            "getAnalytics",
            PATH,
            || web::to(report::of_account),
            parameters::OF_ACCOUNT_REPORTS,
            OF_ACCOUNT,
        ),
        report_at(
            "Count the clicks of a redirect",
            "getRedirectAnalytics",
            "/v1/redirects/{id}/analytics",
            || web::to(report::of_link::<RedirectKind>),
            parameters::OF_REDIRECT_REPORTS,
            OF_REDIRECT,
        ),
        report_at(
            "Count the clicks of a landing page",
            "getLandingAnalytics",
            "/v1/landings/{id}/analytics",
            || web::to(report::of_link::<LandingKind>),
            parameters::OF_LANDING_REPORTS,
            OF_LANDING,
        ),
        export_at(
            "Export the clicks of the account",
            "exportClicks",
            "/v1/analytics/clicks",
            || web::to(clicks::of_account),
            parameters::OF_ACCOUNT_EXPORTS,
            OF_ACCOUNT,
        ),
        export_at(
            "Export the clicks of a redirect",
            "exportRedirectClicks",
            "/v1/redirects/{id}/analytics/clicks",
            || web::to(clicks::of_link::<RedirectKind>),
            parameters::OF_REDIRECT_EXPORTS,
            OF_REDIRECT,
        ),
        export_at(
            "Export the clicks of a landing page",
            "exportLandingClicks",
            "/v1/landings/{id}/analytics/clicks",
            || web::to(clicks::of_link::<LandingKind>),
            parameters::OF_LANDING_EXPORTS,
            OF_LANDING,
        ),
    ]
}

fn lines() -> Response {
    let lines = ContentBuilder::new()
        .schema(Some(named("ExportedLines")))
        .example(Some(json!(format!("{}\n", example_of_click()))));
    let table = ContentBuilder::new().schema(Some(named("ExportedClicks"))).example(Some(json!(CLICKS_CSV)));
    let response = ResponseBuilder::new()
        .description("The clicks. As NDJSON, each line is an `ExportedClick`.")
        .content("application/x-ndjson", lines.build())
        .content("text/csv; charset=utf-8", table.build());
    headers::of_every_response(response, RateLimited::Always).build()
}

/// A report of two days.
fn example() -> Value {
    json!({
        "object": "analytics",
        "start_date": "2026-01-30T23:00:00.000Z",
        "end_date": "2026-02-01T22:59:59.999Z",
        "timezone": "Europe/Berlin",
        "interval": "day",
        "totals": {"clicks": 31, "visitors": 25, "bots": 4, "blocked": 0},
        "series": [
            {"start": "2026-01-30T23:00:00.000Z", "clicks": 31, "visitors": 25, "bots": 3, "blocked": 0},
            {"start": "2026-01-31T23:00:00.000Z", "clicks": 0, "visitors": 0, "bots": 1, "blocked": 0},
        ],
        "dimensions": {
            "country": [
                {"value": "DE", "clicks": 24, "visitors": 19},
                {"value": "", "clicks": 7, "visitors": 6},
            ],
        },
    })
}

/// One click of an export.
fn example_of_click() -> Value {
    json!({
        "id": "clk_019c134c81e2r019b5a3c6e2d7f4880112233445566aa0",
        "at": examples::CREATED_AT,
        "link_id": examples::REDIRECT_ID,
        "kind": "click",
        "channel": "email",
        "country": "DE",
        "device": "mobile",
        "os": "Android",
        "browser": "Chrome",
        "language": "de",
        "referrer": "",
        "utm_source": "newsletter",
        "utm_medium": "email",
        "utm_campaign": "autumn",
        "widget": "",
        "rule": "german",
    })
}

/// The same click as CSV.
const CLICKS_CSV: &str = "id,at,link_id,kind,channel,country,device,os,browser,language,referrer,\
     utm_source,utm_medium,utm_campaign,widget,rule\r\n\
     clk_019c134c81e2r019b5a3c6e2d7f4880112233445566aa0,2026-01-31T09:05:07.042Z,\
     rdr_019b5a3c6e2d7f4880112233445566aa,click,email,DE,mobile,Android,Chrome,de,,newsletter,email,autumn,,german\r\n";
