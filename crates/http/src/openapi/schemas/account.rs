//! The account (D32).

use utoipa::openapi::schema::ObjectBuilder;

use super::Components;
use super::fields::id;
use super::object::{always, closed_object, count, kind, list, string, string_or_null};

/// The components about the account.
pub(super) fn components() -> Components {
    let features = list(
        "The features of the plan. An open list: `custom_domains`, `pixels`, `geo_blocking`, `antibot`, and \
         whatever comes.",
        string("A feature."),
    )
    .unique_items(true);
    let account = closed_object(
        "The caller's account.",
        [
            always("id", id("acc", "The account's id.")),
            always("object", kind("account")),
            always(
                "email",
                string("The address of the owner.").max_length(Some(254)).examples(["ada@example.com"]),
            ),
            always(
                "name",
                string_or_null("The account's name; null if it was given none.").examples(["Ada"]),
            ),
            always(
                "plan",
                string("The plan's name; the operator decides which plans there are.")
                    .pattern(Some("^[a-z0-9_-]{1,32}$"))
                    .examples(["agency"]),
            ),
            always("features", features),
            always("limits", limits()),
            always("usage", usage()),
        ],
    );
    vec![("Account", account.into())]
}

fn limits() -> ObjectBuilder {
    closed_object(
        "What the plan allows.",
        [
            always("links", count("Landing pages and redirects together.")),
            always("groups", count("Groups.")),
            always("domains", count("Custom domains.")),
            always("pixels", count("Pixels.")),
            always("analytics_days", count("The longest period of analytics, in days.")),
            always("requests_per_minute", count("Requests in one calendar minute.")),
            always("requests_per_day", count("Requests in one calendar day, UTC.")),
        ],
    )
}

fn usage() -> ObjectBuilder {
    closed_object(
        "How much of it is used.",
        [
            always("links", count("Landing pages and redirects together.")),
            always("groups", count("Groups.")),
            always("domains", count("Custom domains.")),
            always("pixels", count("Pixels.")),
        ],
    )
}
