//! Operations on analytics (D45, D66).

use serde_json::json;
use signpost_domain::ErrorCode;
use utoipa::openapi::{ContentBuilder, ResponseBuilder};

use super::{Endpoint, RateLimited, Response, headers, named, ok};
use crate::analytics::PATH;
use crate::openapi::analytics_parameters as parameters;
use crate::routes::RouteMethod;
use crate::schema::examples;

pub(super) const TAG: &str = "Analytics";

const REPORT: &str = "Counts clicks, visitors, bots and blocked visits of a period, in all, by bucket of local time, and by the \
                      dimensions asked for. Filters narrow what is counted together. Counts are exact, never sampled. The \
                      plan limits how long a period may be.";

const EXPORT: &str = "Streams the single clicks, bots and blocked visits of a period in order of time, with the same filters as \
                      the counts. Visits of widgets are not among them. An account runs one export at a time and starts one \
                      a minute; more are refused with 429. The request counts once against the quota. If the stream breaks \
                      off, the connection is closed before its proper end: ask again with `after` and the last id received.";

const RANGE: [ErrorCode; 2] =
    [ErrorCode::AnalyticsRangeExceedsPlanLimit, ErrorCode::AnalyticsTemporarilyUnavailable];

const OF_ACCOUNT: &[ErrorCode] = &RANGE;

const OF_REDIRECT: &[ErrorCode] =
    &[RANGE[0], RANGE[1], ErrorCode::RedirectNotFound, ErrorCode::AnalyticsNotConfigured];

const OF_LANDING: &[ErrorCode] =
    &[RANGE[0], RANGE[1], ErrorCode::LandingNotFound, ErrorCode::AnalyticsNotConfigured];

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let report = |summary, id, path, parameters, errors| Endpoint {
        summary,
        description: REPORT,
        parameters,
        success: ok("What was counted.", "Analytics", examples::analytics()),
        errors,
        ..Endpoint::new(TAG, id, RouteMethod::Get, path)
    };
    let export = |summary, id, path, parameters, errors| Endpoint {
        summary,
        description: EXPORT,
        parameters,
        success: ("200", lines()),
        errors,
        ..Endpoint::new(TAG, id, RouteMethod::Get, path)
    };
    vec![
        report(
            "Count the clicks of the account",
            "getAnalytics",
            PATH,
            parameters::OF_ACCOUNT_REPORTS,
            OF_ACCOUNT,
        ),
        report(
            "Count the clicks of a redirect",
            "getRedirectAnalytics",
            "/v1/redirects/{id}/analytics",
            parameters::OF_REDIRECT_REPORTS,
            OF_REDIRECT,
        ),
        report(
            "Count the clicks of a landing page",
            "getLandingAnalytics",
            "/v1/landings/{id}/analytics",
            parameters::OF_LANDING_REPORTS,
            OF_LANDING,
        ),
        export(
            "Export the clicks of the account",
            "exportClicks",
            "/v1/analytics/clicks",
            parameters::OF_ACCOUNT_EXPORTS,
            OF_ACCOUNT,
        ),
        export(
            "Export the clicks of a redirect",
            "exportRedirectClicks",
            "/v1/redirects/{id}/analytics/clicks",
            parameters::OF_REDIRECT_EXPORTS,
            OF_REDIRECT,
        ),
        export(
            "Export the clicks of a landing page",
            "exportLandingClicks",
            "/v1/landings/{id}/analytics/clicks",
            parameters::OF_LANDING_EXPORTS,
            OF_LANDING,
        ),
    ]
}

fn lines() -> Response {
    let lines = ContentBuilder::new().schema(Some(named("ExportedClick"))).example(Some(examples::click()));
    let table = ContentBuilder::new()
        .schema(Some(named("ExportedClicks")))
        .example(Some(json!(examples::CLICKS_CSV)));
    let response = ResponseBuilder::new()
        .description("The clicks. As NDJSON, each line is an object of this schema.")
        .content("application/x-ndjson", lines.build())
        .content("text/csv; charset=utf-8", table.build());
    headers::of_every_response(response, RateLimited::Always).build()
}
