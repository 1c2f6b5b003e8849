//! Operations on redirects.

use serde_json::{Value, json};
use signpost_domain::ErrorCode;

use super::links::Kind;
use super::{Endpoint, body, ok};
use crate::routes::RouteMethod;
use crate::schema::{BulkOperation, examples};

pub(super) const TAG: &str = KIND.tag;

static KIND_OF_REDIRECTS: Kind = KIND;

const KIND: Kind = Kind {
    tag: "Redirects",
    noun: "redirect",
    plural: "redirects",
    component: "Redirect",
    object: "redirect",
    path: "/v1/redirects",
    path_of_one: "/v1/redirects/{id}",
    path_of_bulk_deletion: "/v1/redirects/bulk/delete",
    id: &["RedirectId"],
    not_found: ErrorCode::RedirectNotFound,
    shows: "Shows one {noun} with everything that belongs to it.",
    creation_errors: &[
        ErrorCode::SlugRequiredForSystemDomain,
        ErrorCode::DomainNotFound,
        ErrorCode::DomainNotActive,
        ErrorCode::GroupNotFound,
        ErrorCode::SlugAlreadyTaken,
        ErrorCode::FeatureNotAvailableOnCurrentPlan,
        ErrorCode::PlanLimitReached,
    ],
    update_errors: &[
        ErrorCode::RedirectNotFound,
        ErrorCode::SlugRequiredForSystemDomain,
        ErrorCode::DomainNotFound,
        ErrorCode::DomainNotActive,
        ErrorCode::GroupNotFound,
        ErrorCode::SlugAlreadyTaken,
        ErrorCode::FeatureNotAvailableOnCurrentPlan,
    ],
    example_id: examples::REDIRECT_ID,
    unknown_id: examples::UNKNOWN_REDIRECT_ID,
    listed: examples::redirect,
    single: examples::single_redirect,
    creations: creation_examples,
};

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let kind = &KIND_OF_REDIRECTS;
    let update = kind.update([
        ("deactivate", "Stop resolving, keep the link", json!({"is_active": false})),
        ("move", "To the root of a custom domain", json!({"domain": "links.example.org", "slug": null})),
        (
            "lift",
            "Lift all country blocks, remove all pixels and leave the group",
            json!({"geo_blocklists": null, "pixel_ids": null, "group_id": null}),
        ),
    ]);
    vec![kind.create(), kind.list(), kind.get(), update, kind.delete(), create_many(), kind.delete_many()]
}

fn creation_examples() -> (Value, Value) {
    let shortest = json!({"name": "Autumn sale", "target_url": "https://example.com/autumn"});
    let longest = json!({
        "name": "Autumn sale",
        "target_url": "https://example.com/autumn?utm_source=mail",
        "slug": "autumn-sale",
        "domain": "links.example.org",
        "note": "For the autumn newsletter",
        "group_id": examples::GROUP_ID,
        "is_active": true,
        "antibot_enabled": false,
        "geo_blocklists": {"countries": ["DE", "AT"]},
        "pixel_ids": [examples::PIXEL_ID],
        "analytics_enabled": true,
    });
    (shortest, longest)
}

fn create_many() -> Endpoint {
    let mut failure = examples::item_error("slug_already_taken", examples::TAKEN, "winter-sale");
    if let Some(fields) = failure.as_object_mut() {
        fields.insert("details".to_owned(), json!([examples::taken_slug()]));
    }
    Endpoint {
        summary: "Create up to 100 redirects",
        description: "Creates redirects, in the order of the array. Each item is the body of the single creation, \
                      and succeeds or fails by itself with the code that the single creation would have answered \
                      with. Of two items that claim one address the first wins; the later fails with \
                      `duplicate_slug_in_batch`. The answer is 200 also if every item failed. What succeeded is kept \
                      together; after an internal error all of it was or nothing. The request counts once against the quota.",
        body: Some(body(
            "NewRedirects",
            [(
                "two",
                "Two redirects",
                json!({"redirects": [
                    {"name": "Autumn sale", "target_url": "https://example.com/autumn", "slug": "autumn-sale"},
                    {"name": "Winter sale", "target_url": "https://example.com/winter", "slug": "winter-sale"},
                ]}),
            )],
        )),
        success: ok(
            "What became of each item.",
            "BulkCreateResult",
            examples::bulk_result(BulkOperation::CREATE, &examples::redirect(), &failure),
        ),
        ..Endpoint::new(KIND.tag, "createRedirects", RouteMethod::Post, "/v1/redirects/bulk")
    }
}
