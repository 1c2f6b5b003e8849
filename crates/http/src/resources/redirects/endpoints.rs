//! The endpoints of redirects.

use actix_web::web;
use serde_json::json;
use signpost_domain::id::RedirectKind;
use signpost_domain::{ErrorCode, IdReference, LinkId};

use crate::endpoint::RouteMethod;
use crate::openapi::operation::{Endpoint, body, ok};
use crate::resources::link_endpoints::KindDescriptions;
use crate::resources::links::LinkEndpoints as _;
use crate::schema::{BulkOperation, examples};

static DESCRIPTIONS: KindDescriptions = KindDescriptions {
    wording: |text| DESCRIPTIONS.worded(text),
    words: RedirectKind::WORDS,
    component: "Redirect",
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
        kind.delete::<RedirectKind>(),
        create_redirects(),
        kind.delete_many::<RedirectKind>(),
    ]
}

fn create_redirects() -> Endpoint {
    let mut failure = examples::item_error("slug_already_taken", examples::TAKEN, "winter-sale");
    if let Some(fields) = failure.as_object_mut() {
        fields.insert("details".to_owned(), json!([examples::taken_slug()]));
    }
    Endpoint {
        summary: "Create up to 100 redirects",
        description: "Creates redirects, in the order of the array. Each item is the body of a single creation, \
                      and succeeds or fails on its own with the code of the single creation. If two items have \
                      the same address, the later one fails with `duplicate_slug_in_batch`. The answer is 200 \
                      even if every item failed. All successful items are committed together; after an internal \
                      error, either all of them were created or none. The request counts once against the quota.",
        body: Some(body(
            "RedirectBatch",
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
            "The outcome of each item.",
            "BulkCreateResult",
            examples::bulk_result(BulkOperation::CREATE, &super::example(), &failure),
        ),
        ..Endpoint::new("bulkCreateRedirects", RouteMethod::Post, "/v1/redirects/bulk", || {
            web::to(super::create_many)
        })
    }
}
