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
            access: Access::Open,
            summary: "Does the process answer?",
            description: "Nothing outside of the process is asked, so that an outage elsewhere does not get it \
                          restarted.",
            success: ("200", live),
            ..Endpoint::new(TAG, "getLiveness", RouteMethod::Get, "/health/live")
        },
        check(
            "/health/ready",
            "getReadiness",
            "Can the API serve?",
            "It takes a database that answers and takes changes, and a program that is not on its way out. `draining` says \
             that it is; `read_only` says that reads go on and changes fail.",
        ),
        check(
            "/health/links",
            "getLinkHealth",
            "Can visitors be served?",
            "It takes a database that answers. Visits \
               change nothing, so a database that takes no changes is enough.",
        ),
    ]
}

fn check(path: &'static str, id: &'static str, summary: &'static str, description: &'static str) -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary,
        description,
        success: ("200", answer("It can.", "ok")),
        other: Some(("503", answer("It cannot; `checks` says what does not answer.", "unavailable"))),
        ..Endpoint::new(TAG, id, RouteMethod::Get, path)
    }
}

fn answer(description: &str, status: &str) -> Response {
    let health = json!({"status": status, "checks": {"database": status}});
    json_response(description, "Health", health, RateLimited::Never).build()
}
