//! The endpoints of health checks.

use actix_web::{Route, web};
use serde_json::json;
use utoipa::openapi::Response;

use crate::endpoint::{Access, RouteMethod};
use crate::openapi::headers::RateLimited;
use crate::openapi::operation::{Endpoint, json_response};

/// All of them, in the order of the documentation page.
pub(super) fn all() -> Vec<Endpoint> {
    let live =
        json_response("The process answers.", "Live", json!({"status": "ok"}), RateLimited::Never).build();
    vec![
        Endpoint {
            access: Access::Open,
            summary: "Does the process answer?",
            description: "Checks no dependency, so that an outage elsewhere does not restart the process.",
            success: ("200", live),
            ..Endpoint::new("getLiveness", RouteMethod::Get, "/health/live", || web::to(super::live))
        },
        check(
            "/health/ready",
            "getReadiness",
            "Can the API serve?",
            "Requires a readable and writable database, and a process that is not shutting down. `draining` means that it \
             is; `read_only` means that reads work and changes fail.",
            || web::to(super::ready),
        ),
        check(
            "/health/links",
            "getLinkHealth",
            "Can visitors be served?",
            "Requires a readable database. Visits change nothing, so a read-only database is enough.",
            || web::to(super::links),
        ),
    ]
}

fn check(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    description: &'static str,
    handler: fn() -> Route,
) -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary,
        description,
        success: ("200", answer("It can serve.", "ok")),
        others: vec![("503", answer("It cannot serve; `checks` names the cause.", "unavailable"))],
        ..Endpoint::new(id, RouteMethod::Get, path, handler)
    }
}

fn answer(description: &str, status: &str) -> Response {
    let health = json!({"status": status, "checks": {"database": status}});
    json_response(description, "Health", health, RateLimited::Never).build()
}
