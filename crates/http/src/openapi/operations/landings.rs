//! Operations on landing pages.

use serde_json::json;
use signpost_domain::ErrorCode;

use super::{Endpoint, body, created, ok};
use crate::openapi::parameters::OF_LINK_LISTS;
use crate::resources::landings::PATH;
use crate::routes::RouteMethod;
use crate::schema::{BulkOperation, examples};

pub(super) const TAG: &str = "Landing pages";

const ONE: &str = "/v1/landings/{id}";

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![create(), list(), get(), update(), delete(), delete_many()]
}

fn create() -> Endpoint {
    Endpoint {
        summary: "Create a landing page",
        description: "Creates a landing page. Without `slug` it gets 7 random characters; without `domain` it lives \
                      on the system domain.",
        body: Some(body(
            "NewLanding",
            [
                ("shortest", "A random slug on the system domain", json!({"title": "Ada's links"})),
                (
                    "with_every_field",
                    "With every field",
                    json!({
                        "title": "Ada's links",
                        "slug": "ada",
                        "domain": "links.example.org",
                        "note": "For her profile",
                        "group_id": examples::GROUP_ID,
                        "is_active": true,
                        "analytics_enabled": true,
                        "description": "Mathematician",
                        "avatar_url": "https://example.com/ada.jpg",
                        "theme": "dark",
                        "accent_color": "#1A2B3C",
                        "search_engines": true,
                        "widgets": [
                            {"type": "heading", "text": "Read"},
                            {"type": "link", "title": "Notes", "url": "https://example.com/notes"},
                            {"type": "text", "text": "Or watch:"},
                            {"type": "video", "url": "https://youtu.be/dQw4w9WgXcQ"},
                            {"type": "divider"},
                            {
                                "type": "image",
                                "image_url": "https://example.com/engine.png",
                                "alt": "The engine",
                                "url": "https://example.com/engine",
                            },
                            {"type": "social", "network": "mastodon", "url": "https://example.com/@ada"},
                            {"type": "email", "address": "ada@example.com", "title": "Write to her"},
                        ],
                    }),
                ),
            ],
        )),
        success: created("The landing page.", "SingleLanding", examples::single_landing()),
        errors: &[
            ErrorCode::SlugRequiredForSystemDomain,
            ErrorCode::DomainNotFound,
            ErrorCode::DomainNotActive,
            ErrorCode::GroupNotFound,
            ErrorCode::SlugAlreadyTaken,
            ErrorCode::PlanLimitReached,
        ],
        ..Endpoint::new(TAG, "createLanding", RouteMethod::Post, PATH)
    }
}

fn list() -> Endpoint {
    Endpoint {
        summary: "List landing pages",
        description: "Lists the account's landing pages, newest first. Filters narrow the list together. Walking it \
                      while links come and go shows every landing page that was there all the time exactly once.",
        parameters: OF_LINK_LISTS,
        success: ok("One page.", "LandingList", examples::page_of(&examples::landing())),
        ..Endpoint::new(TAG, "listLandings", RouteMethod::Get, PATH)
    }
}

fn get() -> Endpoint {
    Endpoint {
        summary: "Retrieve a landing page",
        description: "Shows one landing page with what is on it.",
        parameters: &["LandingId"],
        success: ok("The landing page.", "SingleLanding", examples::single_landing()),
        errors: &[ErrorCode::LandingNotFound],
        ..Endpoint::new(TAG, "getLanding", RouteMethod::Get, ONE)
    }
}

fn update() -> Endpoint {
    Endpoint {
        summary: "Update a landing page",
        description: "Changes the fields that the body has, and no other. What null does is said at each field. The \
                      landing page is judged by the place where it ends, not field by field: `slug` null is refused \
                      with `slug_required_for_system_domain` if that place is on the system domain. `updated_at` \
                      moves only when something changed.",
        parameters: &["LandingId"],
        body: Some(body(
            "LandingPatch",
            [
                ("a_title", "Another title", json!({"title": "Ada Lovelace"})),
                (
                    "restyle",
                    "Another look, and nothing on it",
                    json!({"theme": "light", "accent_color": null, "widgets": []}),
                ),
                (
                    "move",
                    "To the root of a custom domain",
                    json!({"domain": "links.example.org", "slug": null}),
                ),
            ],
        )),
        success: ok("The landing page as it is now.", "SingleLanding", examples::single_landing()),
        errors: &[
            ErrorCode::LandingNotFound,
            ErrorCode::SlugRequiredForSystemDomain,
            ErrorCode::DomainNotFound,
            ErrorCode::DomainNotActive,
            ErrorCode::GroupNotFound,
            ErrorCode::SlugAlreadyTaken,
        ],
        ..Endpoint::new(TAG, "updateLanding", RouteMethod::Patch, ONE)
    }
}

fn delete() -> Endpoint {
    let message = "The landing page is deleted and its address is free.";
    Endpoint {
        summary: "Delete a landing page",
        description: "Deletes a landing page. Its address is free at once.",
        parameters: &["LandingId"],
        success: ok(
            "The landing page is deleted.",
            "DeletedLanding",
            examples::deletion(examples::LANDING_ID, "landing", message),
        ),
        errors: &[ErrorCode::LandingNotFound],
        ..Endpoint::new(TAG, "deleteLanding", RouteMethod::Delete, ONE)
    }
}

fn delete_many() -> Endpoint {
    let deleted = examples::deletion(
        examples::LANDING_ID,
        "landing",
        "The landing page is deleted and its address is free.",
    );
    let failure =
        examples::item_error("landing_not_found", "No such landing page.", examples::UNKNOWN_LANDING_ID);
    Endpoint {
        summary: "Delete up to 100 landing pages",
        description: "Deletes landing pages by their ids. An id that is no landing page of the account fails by \
                      itself with `landing_not_found`; one that stands there a second time, with \
                      `duplicate_id_in_batch`. The answer is 200 also if every item failed. The request counts once \
                      against the quota.",
        body: Some(body(
            "LandingIds",
            [(
                "two",
                "Two landing pages",
                json!({"landing_ids": [examples::LANDING_ID, examples::UNKNOWN_LANDING_ID]}),
            )],
        )),
        success: ok(
            "What became of each item.",
            "LandingBulkDeleteResult",
            examples::bulk_result(BulkOperation::DELETE, &deleted, &failure),
        ),
        ..Endpoint::new(TAG, "deleteLandings", RouteMethod::Post, "/v1/landings/bulk/delete")
    }
}
