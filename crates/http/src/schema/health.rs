//! Answers of the health checks (D63).

use super::Components;
use super::object::{always, closed_object, maybe, string};

/// The components about health.
pub(crate) fn components() -> Components {
    let status = |description: &str, values: &[&'static str]| {
        string(description).enum_values(Some(values.iter().copied()))
    };
    let live = closed_object("The process answers.", [always("status", status("Always `ok`.", &["ok"]))]);
    let checks = closed_object(
        "What was asked.",
        [
            always(
                "database",
                status(
                    "Whether the database answers. `read_only` says that it can be read and takes no changes, because its disk \
                     is full or it is set so; in readiness only.",
                    &["ok", "read_only", "unavailable"],
                ),
            ),
            maybe(
                "redis",
                status(
                    "Whether Redis answers; in readiness only, and only where Redis is used. It is not needed: while it is \
                     away, each node counts requests by itself.",
                    &["ok", "unavailable"],
                ),
            ),
        ],
    );
    let health = closed_object(
        "Whether the service can do its work.",
        [
            always(
                "status",
                status(
                    "`ok`, or why not: something that is needed does not answer or takes no changes, or the program is on its \
                     way out.",
                    &["ok", "read_only", "unavailable", "draining"],
                ),
            ),
            always("checks", checks),
        ],
    );
    vec![("Live", live.into()), ("Health", health.into())]
}
