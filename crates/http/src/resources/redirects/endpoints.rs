//! The endpoints of redirects.

use serde_json::json;
use signpost_domain::id::RedirectKind;
use signpost_domain::{ErrorCode, IdReference, LinkId};

use crate::openapi::operation::{Endpoint, ok};
use crate::openapi::parameters::{IF_MATCH, IF_NONE_MATCH};
use crate::resources::explanations;
use crate::resources::link_endpoints::KindDescriptions;
use crate::resources::links::LinkEndpoints as _;
use crate::schema::examples;

static DESCRIPTIONS: KindDescriptions = KindDescriptions {
    wording: |text| DESCRIPTIONS.worded(text),
    words: RedirectKind::WORDS,
    component: "Redirect",
    id: &["RedirectId"],
    id_and_condition: &["RedirectId", IF_MATCH],
    external_id_and_conditions: &["RedirectExternalId", IF_MATCH, IF_NONE_MATCH],
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
        ErrorCode::PlanLimitReached,
    ],
    unknown_id: examples::UNKNOWN_REDIRECT_ID,
    listed: super::example,
    single: super::single_example,
    creations: super::creation_examples,
};

/// All of them, in the order of the documentation page.
pub(super) fn all() -> Vec<Endpoint> {
    let kind = &DESCRIPTIONS;
    let update = kind.update::<RedirectKind>([
        ("deactivate", "Stop resolving, keep the link", json!({"is_active": false})),
        ("move", "To the root of a custom domain", json!({"domain": "links.example.org", "slug": null})),
        (
            "lift",
            "Lift all country blocks, remove all pixels and leave the group",
            json!({"geo_blocklists": null, "pixel_ids": null, "group_id": null}),
        ),
    ]);
    vec![
        kind.create::<RedirectKind>(),
        kind.list::<RedirectKind>(),
        Endpoint {
            read_ahead: Some(|id| IdReference::<RedirectKind>::parse(id).id().map(LinkId::from)),
            ..kind.get::<RedirectKind>()
        },
        update,
        kind.put::<RedirectKind>(),
        kind.delete::<RedirectKind>(),
        Endpoint {
            success: ok("The outcome of each item.", "BulkCreateResult", kind.creations_result()),
            ..kind.create_many::<RedirectKind>(json!({"redirects": [
                {"name": "Autumn sale", "target_url": "https://example.com/autumn", "slug": "autumn-sale"},
                {"name": "Winter sale", "target_url": "https://example.com/winter", "slug": "winter-sale"},
            ]}))
        },
        kind.update_many::<RedirectKind>(),
        super::update_matching::endpoint(),
        kind.delete_many::<RedirectKind>(),
        explanations::testing(),
    ]
}
