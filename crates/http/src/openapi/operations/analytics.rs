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
    let report = |summary, id, path, parameters, errors| Endpoint {
        summary,
        description: REPORT,
        parameters,
        success: ok("The report.", "Analytics", examples::analytics()),
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
