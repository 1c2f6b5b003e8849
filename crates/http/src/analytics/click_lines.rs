//! Exported clicks in the OpenAPI document (D66).

use serde_json::json;
use signpost_domain::analytics::{Dimension, RecordedKind};
use utoipa::openapi::schema::ObjectBuilder;

use crate::schema::{Components, always, keyword, matching, one_of_known, open_object, string, timestamp};

/// The OpenAPI components of exported clicks.
pub(crate) fn components() -> Components {
    vec![
        ("ExportedClick", click().into()),
        ("ExportedClicks", string("A header with the names of the fields, and one row per click.").into()),
        ("ExportedLines", exported_lines().into()),
    ]
}

/// An export as NDJSON. A client reads it as text, line by line.
fn exported_lines() -> ObjectBuilder {
    let line = json!({"$ref": "#/components/schemas/ExportedClick"});
    string("One JSON object for each click, each on a line of its own.")
        .extensions(Some(keyword("x-signpost-line", line)))
}

/// A line of NDJSON.
fn click() -> ObjectBuilder {
    let own = [
        always(
            "id",
            matching(string("The click's id. Ids ascend."), "^clk_[0-9a-f]{12}[lr][0-9a-f]{33,40}$"),
        ),
        always("at", timestamp("The time of the click; UTC, with milliseconds.")),
        always("link_id", matching(string("The redirect or landing page."), "^(?:lnd|rdr)_[0-9a-f]{32}$")),
        always(
            "kind",
            one_of_known(
                string("The kind of the click. An open list."),
                RecordedKind::ALL.map(RecordedKind::as_str),
            ),
        ),
    ];
    let values = Dimension::EXPORTED.map(|dimension| {
        let about = match dimension {
            Dimension::Rule => "The rule that sent the visitor on, such as `german`, or with its variant, such as `try.new`; empty if \
                                none did."
                .to_owned(),
            _ => format!("The value of `{}`; empty if it is unknown.", dimension.as_str()),
        };
        always(dimension.as_str(), string(&about))
    });
    open_object("A click of an export.", own.into_iter().chain(values))
}
