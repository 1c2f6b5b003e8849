//! Health checks.

use serde_json::json;

use super::{Endpoint, RateLimited, Response, json_response};
use crate::routes::{Access, RouteMethod};

pub(super) const TAG: &str = "Health";

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let live = json_response("It does.", "Live", json!({"status": "ok"}), RateLimited::Never).build();
    vec![
        Endpoint {
            method: RouteMethod::Get,
            path: "/health/live",
            access: Access::Open,
            tag: TAG,
            id: "getLiveness",
            summary: "Does the process answer?",
            description: "Nothing outside of the process is asked, so that an outage elsewhere does not get it \
                          restarted.",
            parameters: &[],
            body: None,
            success: ("200", live),
            errors: &[],
            other: None,
        },
        check(
            "/health/ready",
            "getReadiness",
            "Can the API serve?",
            "It takes the database, and a program that is not on its way out: `draining` says that it is.",
        ),
        check("/health/links", "getLinkHealth", "Can visitors be served?", "It takes the database."),
    ]
}

fn check(path: &'static str, id: &'static str, summary: &'static str, description: &'static str) -> Endpoint {
    Endpoint {
        method: RouteMethod::Get,
        path,
        access: Access::Open,
        tag: TAG,
        id,
        summary,
        description,
        parameters: &[],
        body: None,
        success: ("200", answer("It can.", "ok")),
        errors: &[],
        other: Some(("503", answer("It cannot; `checks` says what does not answer.", "unavailable"))),
    }
}

fn answer(description: &str, status: &str) -> Response {
    let health = json!({"status": status, "checks": {"database": status}});
    json_response(description, "Health", health, RateLimited::Never).build()
}
