//! Operations on redirects.

use serde_json::json;
use signpost_domain::ErrorCode;

use super::{Endpoint, body, created, ok};
use crate::openapi::parameters::OF_LINK_LISTS;
use crate::resources::redirects::PATH;
use crate::routes::RouteMethod;
use crate::schema::{BulkOperation, examples};

pub(super) const TAG: &str = "Redirects";

const ONE: &str = "/v1/redirects/{id}";

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![create(), list(), get(), update(), delete(), create_many(), delete_many()]
}

fn create() -> Endpoint {
    Endpoint {
        summary: "Create a redirect",
        description: "Creates a redirect. Without `slug` it gets 7 random characters; without `domain` it lives on \
                      the system domain.",
        body: Some(body(
            "NewRedirect",
            [
                (
                    "shortest",
                    "A random slug on the system domain",
                    json!({"name": "Autumn sale", "target_url": "https://example.com/autumn"}),
                ),
                (
                    "with_every_field",
                    "With every field",
                    json!({
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
                    }),
                ),
            ],
        )),
        success: created("The redirect.", "SingleRedirect", examples::single_redirect()),
        errors: &[
            ErrorCode::SlugRequiredForSystemDomain,
            ErrorCode::DomainNotFound,
            ErrorCode::DomainNotActive,
            ErrorCode::GroupNotFound,
            ErrorCode::SlugAlreadyTaken,
            ErrorCode::FeatureNotAvailableOnCurrentPlan,
            ErrorCode::PlanLimitReached,
        ],
        ..Endpoint::new(TAG, "createRedirect", RouteMethod::Post, PATH)
    }
}

fn list() -> Endpoint {
    Endpoint {
        summary: "List redirects",
        description: "Lists the account's redirects, newest first. Filters narrow the list together. Walking it \
                      while links come and go shows every redirect that was there all the time exactly once.",
        parameters: OF_LINK_LISTS,
        success: ok("One page.", "RedirectList", examples::page_of(&examples::redirect())),
        ..Endpoint::new(TAG, "listRedirects", RouteMethod::Get, PATH)
    }
}

fn get() -> Endpoint {
    Endpoint {
        summary: "Retrieve a redirect",
        description: "Shows one redirect with everything that belongs to it.",
        parameters: &["RedirectId"],
        success: ok("The redirect.", "SingleRedirect", examples::single_redirect()),
        errors: &[ErrorCode::RedirectNotFound],
        ..Endpoint::new(TAG, "getRedirect", RouteMethod::Get, ONE)
    }
}

fn update() -> Endpoint {
    Endpoint {
        summary: "Update a redirect",
        description: "Changes the fields that the body has, and no other. What null does is said at each field. The \
                      redirect is judged by the place where it ends, not field by field: `slug` null is refused with \
                      `slug_required_for_system_domain` if that place is on the system domain. `updated_at` moves \
                      only when something changed.",
        parameters: &["RedirectId"],
        body: Some(body(
            "RedirectPatch",
            [
                ("deactivate", "Stop resolving, keep the link", json!({"is_active": false})),
                (
                    "move",
                    "To the root of a custom domain",
                    json!({"domain": "links.example.org", "slug": null}),
                ),
                (
                    "lift",
                    "Lift all country blocks, remove all pixels and leave the group",
                    json!({"geo_blocklists": null, "pixel_ids": null, "group_id": null}),
                ),
            ],
        )),
        success: ok("The redirect as it is now.", "SingleRedirect", examples::single_redirect()),
        errors: &[
            ErrorCode::RedirectNotFound,
            ErrorCode::SlugRequiredForSystemDomain,
            ErrorCode::DomainNotFound,
            ErrorCode::DomainNotActive,
            ErrorCode::GroupNotFound,
            ErrorCode::SlugAlreadyTaken,
            ErrorCode::FeatureNotAvailableOnCurrentPlan,
        ],
        ..Endpoint::new(TAG, "updateRedirect", RouteMethod::Patch, ONE)
    }
}

fn delete() -> Endpoint {
    let message = "The redirect is deleted and its address is free.";
    Endpoint {
        summary: "Delete a redirect",
        description: "Deletes a redirect. Its address is free at once.",
        parameters: &["RedirectId"],
        success: ok(
            "The redirect is deleted.",
            "DeletedRedirect",
            examples::deletion(examples::REDIRECT_ID, "redirect", message),
        ),
        errors: &[ErrorCode::RedirectNotFound],
        ..Endpoint::new(TAG, "deleteRedirect", RouteMethod::Delete, ONE)
    }
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
        ..Endpoint::new(TAG, "createRedirects", RouteMethod::Post, "/v1/redirects/bulk")
    }
}

fn delete_many() -> Endpoint {
    let deleted = examples::deletion(
        examples::REDIRECT_ID,
        "redirect",
        "The redirect is deleted and its address is free.",
    );
    let failure =
        examples::item_error("redirect_not_found", "No such redirect.", examples::UNKNOWN_REDIRECT_ID);
    Endpoint {
        summary: "Delete up to 100 redirects",
        description: "Deletes redirects by their ids. An id that is no redirect of the account fails by itself with \
                      `redirect_not_found`; one that stands there a second time, with `duplicate_id_in_batch`. The \
                      answer is 200 also if every item failed. The request counts once against the quota.",
        body: Some(body(
            "RedirectIds",
            [(
                "two",
                "Two redirects",
                json!({"redirect_ids": [examples::REDIRECT_ID, examples::UNKNOWN_REDIRECT_ID]}),
            )],
        )),
        success: ok(
            "What became of each item.",
            "RedirectBulkDeleteResult",
            examples::bulk_result(BulkOperation::DELETE, &deleted, &failure),
        ),
        ..Endpoint::new(TAG, "deleteRedirects", RouteMethod::Post, "/v1/redirects/bulk/delete")
    }
}
