//! Operations on landing pages.

use serde_json::{Value, json};
use signpost_domain::ErrorCode;

use super::Endpoint;
use super::links::Kind;
use crate::schema::examples;

pub(super) const TAG: &str = KIND.tag;

static KIND_OF_LANDINGS: Kind = KIND;

const KIND: Kind = Kind {
    tag: "Landing pages",
    noun: "landing page",
    plural: "landing pages",
    component: "Landing",
    object: "landing",
    path: "/v1/landings",
    path_of_one: "/v1/landings/{id}",
    path_of_bulk_deletion: "/v1/landings/bulk/delete",
    id: &["LandingId"],
    not_found: ErrorCode::LandingNotFound,
    shows: "Shows one {noun} with what is on it.",
    creation_errors: &[
        ErrorCode::SlugRequiredForSystemDomain,
        ErrorCode::DomainNotFound,
        ErrorCode::DomainNotActive,
        ErrorCode::GroupNotFound,
        ErrorCode::SlugAlreadyTaken,
        ErrorCode::PlanLimitReached,
    ],
    update_errors: &[
        ErrorCode::LandingNotFound,
        ErrorCode::SlugRequiredForSystemDomain,
        ErrorCode::DomainNotFound,
        ErrorCode::DomainNotActive,
        ErrorCode::GroupNotFound,
        ErrorCode::SlugAlreadyTaken,
    ],
    example_id: examples::LANDING_ID,
    unknown_id: examples::UNKNOWN_LANDING_ID,
    listed: examples::landing,
    single: examples::single_landing,
    creations: creation_examples,
};

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let kind = &KIND_OF_LANDINGS;
    let update = kind.update([
        ("a_title", "Another title", json!({"title": "Ada Lovelace"})),
        (
            "restyle",
            "Another look, and nothing on it",
            json!({"theme": "light", "accent_color": null, "widgets": []}),
        ),
        ("move", "To the root of a custom domain", json!({"domain": "links.example.org", "slug": null})),
    ]);
    vec![kind.create(), kind.list(), kind.get(), update, kind.delete(), kind.delete_many()]
}

fn creation_examples() -> (Value, Value) {
    let shortest = json!({"title": "Ada's links"});
    let longest = json!({
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
    });
    (shortest, longest)
}
