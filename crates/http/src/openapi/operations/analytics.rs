//! Operations on analytics (D45, D66).

use actix_web::web;
use serde_json::json;
use signpost_domain::ErrorCode;
use signpost_domain::id::{LandingKind, RedirectKind};
use utoipa::openapi::{ContentBuilder, ResponseBuilder};

use super::{Endpoint, RateLimited, Response, headers, named, ok};
use crate::analytics::{PATH, clicks, report};
use crate::endpoint::RouteMethod;
use crate::openapi::analytics_parameters as parameters;
use crate::schema::examples;

pub(super) const TAG: &str = "Analytics";

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

/// The operations, in the order of the documentation page.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let report_at = |summary, id, path, handler, parameters, errors| Endpoint {
        summary,
        description: REPORT,
        parameters,
        success: ok("The report.", "Analytics", examples::analytics()),
        errors,
        ..Endpoint::new(TAG, id, RouteMethod::Get, path, handler)
    };
    let export_at = |summary, id, path, handler, parameters, errors| Endpoint {
        summary,
        description: EXPORT,
        parameters,
        success: ("200", lines()),
        errors,
        ..Endpoint::new(TAG, id, RouteMethod::Get, path, handler)
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
        .example(Some(json!(format!("{}\n", examples::click()))));
    let table = ContentBuilder::new()
        .schema(Some(named("ExportedClicks")))
        .example(Some(json!(examples::CLICKS_CSV)));
    let response = ResponseBuilder::new()
        .description("The clicks. As NDJSON, each line is an `ExportedClick`.")
        .content("application/x-ndjson", lines.build())
        .content("text/csv; charset=utf-8", table.build());
    headers::of_every_response(response, RateLimited::Always).build()
}
