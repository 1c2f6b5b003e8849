//! The endpoints of landing pages.

use serde_json::json;
use signpost_domain::ErrorCode;
use signpost_domain::id::LandingKind;

use crate::openapi::operation::Endpoint;
use crate::openapi::parameters::{IF_MATCH, IF_NONE_MATCH};
use crate::resources::link_endpoints::KindDescriptions;
use crate::resources::links::LinkEndpoints as _;
use crate::schema::examples;

static DESCRIPTIONS: KindDescriptions = KindDescriptions {
    wording: |text| DESCRIPTIONS.worded(text),
    words: LandingKind::WORDS,
    component: "Landing",
    id: &["LandingId"],
    id_and_condition: &["LandingId", IF_MATCH],
    external_id_and_conditions: &["LandingExternalId", IF_MATCH, IF_NONE_MATCH],
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
        ErrorCode::PlanLimitReached,
    ],
    unknown_id: examples::UNKNOWN_LANDING_ID,
    listed: super::example,
    single: super::single_example,
    creations: super::creation_examples,
};

/// All of them, in the order of the documentation page.
pub(super) fn all() -> Vec<Endpoint> {
    let kind = &DESCRIPTIONS;
    let update = kind.update::<LandingKind>([
        ("a_title", "Another title", json!({"title": "Ada Lovelace"})),
        (
            "restyle",
            "Another look, and nothing on it",
            json!({"theme": "light", "accent_color": null, "widgets": []}),
        ),
        ("move", "To the root of a custom domain", json!({"domain": "links.example.org", "slug": null})),
    ]);
    vec![
        kind.create::<LandingKind>(),
        kind.list::<LandingKind>(),
        kind.get::<LandingKind>(),
        update,
        kind.put::<LandingKind>(),
        kind.delete::<LandingKind>(),
        kind.create_many::<LandingKind>(json!({"landings": [
            {"title": "Spring menu", "slug": "spring-menu"},
            {"title": "Winter menu", "slug": "winter-sale", "widgets": [{"type": "heading", "text": "Soups"}]},
        ]})),
        kind.update_many::<LandingKind>(),
        kind.delete_many::<LandingKind>(),
    ]
}
