//! The operations on links, which both kinds share.

use actix_web::{Route, web};
use serde_json::{Value, json};
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{ErrorCode, IdReference, LinkId};

use super::{Endpoint, body, created, ok};
use crate::endpoint::RouteMethod;
use crate::openapi::parameters::{Name, OF_LINK_LISTS};
use crate::resources::links::{self, LinkEndpoints, LinkWords};
use crate::resources::{landings, redirects};
use crate::schema::{BulkOperation, examples};

/// The descriptions of a kind's operations. Their texts have placeholders for the kind's names in braces.
pub(super) struct Kind {
    pub(super) tag: &'static str,
    /// `{noun}`, `{nouns}`, `{object}`, and the paths.
    words: LinkWords,
    /// `{Kind}`: what components and operations are named after.
    component: &'static str,
    id: &'static [Name],
    not_found: ErrorCode,
    /// The description of answers about a single link.
    shows: &'static str,
    creation_errors: &'static [ErrorCode],
    update_errors: &'static [ErrorCode],
    unknown_id: &'static str,
    listed: fn() -> Value,
    single: fn() -> Value,
    /// Example bodies of a creation: with the required fields only, and with every field.
    creations: fn() -> (Value, Value),
}

/// Redirects.
pub(super) static REDIRECTS: Kind = Kind {
    tag: "Redirects",
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
    listed: redirects::example,
    single: redirects::single_example,
    creations: redirects::creation_examples,
};

/// Landing pages.
pub(super) static LANDINGS: Kind = Kind {
    tag: "Landings",
    words: LandingKind::WORDS,
    component: "Landing",
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
    unknown_id: examples::UNKNOWN_LANDING_ID,
    listed: landings::example,
    single: landings::single_example,
    creations: landings::creation_examples,
};

/// The operations on redirects, in the order in which the page shows them.
pub(super) fn on_redirects() -> Vec<Endpoint> {
    let kind = &REDIRECTS;
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

/// The operations on landing pages, in the order in which the page shows them.
pub(super) fn on_landings() -> Vec<Endpoint> {
    let kind = &LANDINGS;
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
        kind.delete::<LandingKind>(),
        kind.delete_many::<LandingKind>(),
    ]
}

impl Kind {
    /// A text with the placeholders replaced.
    pub(super) fn worded(&self, text: &str) -> String {
        text.replace("{noun}", self.words.noun)
            .replace("{nouns}", self.words.plural)
            .replace("{Kind}", self.component)
            .replace("{object}", self.words.object)
    }

    fn endpoint(
        &'static self,
        id: &'static str,
        method: RouteMethod,
        path: &'static str,
        handler: fn() -> Route,
    ) -> Endpoint {
        Endpoint { kind: Some(self), ..Endpoint::new(self.tag, id, method, path, handler) }
    }

    fn deletion(&self) -> Value {
        examples::deletion(self.words.example_id, self.words.object, self.words.deleted)
    }

    fn create<K: LinkEndpoints>(&'static self) -> Endpoint {
        let (shortest, longest) = (self.creations)();
        Endpoint {
            summary: "Create a {noun}",
            description: "Creates a {noun}. Without `slug` it gets 7 random characters; without `domain` it lives on \
                          the system domain.",
            body: Some(body(
                &self.worded("{Kind}Create"),
                [
                    ("shortest", "A random slug on the system domain", shortest),
                    ("with_every_field", "With every field", longest),
                ],
            )),
            success: created(&self.worded("The {noun}."), self.component, (self.single)()),
            errors: self.creation_errors,
            ..self
                .endpoint("create{Kind}", RouteMethod::Post, self.words.path, || web::to(links::create::<K>))
        }
    }

    fn list<K: LinkEndpoints>(&'static self) -> Endpoint {
        Endpoint {
            summary: "List {nouns}",
            description: "Lists the account's {nouns}, newest first. All filters must match. Reading all pages \
                          during concurrent changes returns every {noun} that exists throughout exactly once.",
            parameters: OF_LINK_LISTS,
            success: ok("One page.", &self.worded("{Kind}List"), examples::page_of(&(self.listed)())),
            ..self.endpoint("list{Kind}s", RouteMethod::Get, self.words.path, || web::to(links::list::<K>))
        }
    }

    fn get<K: LinkEndpoints>(&'static self) -> Endpoint {
        Endpoint {
            summary: "Retrieve a {noun}",
            description: self.shows,
            parameters: self.id,
            success: ok(&self.worded("The {noun}."), self.component, (self.single)()),
            errors: std::slice::from_ref(&self.not_found),
            ..self
                .endpoint("get{Kind}", RouteMethod::Get, self.words.path_of_one, || web::to(links::get::<K>))
        }
    }

    /// An update, with an example for each purpose.
    fn update<K: LinkEndpoints>(
        &'static self,
        examples: [(&'static str, &'static str, Value); 3],
    ) -> Endpoint {
        Endpoint {
            summary: "Update a {noun}",
            description: "Changes only the fields in the body. Each field says what null does. The rules apply \
                          to the resulting address of the {noun}, not to each field: `slug` null is refused with \
                          `slug_required_for_system_domain` if the result is on the system domain. `updated_at` \
                          changes only if a field changes.",
            parameters: self.id,
            body: Some(body(&self.worded("{Kind}Patch"), examples)),
            success: ok(&self.worded("The {noun} as it is now."), self.component, (self.single)()),
            errors: self.update_errors,
            ..self.endpoint("update{Kind}", RouteMethod::Patch, self.words.path_of_one, || {
                web::to(links::update::<K>)
            })
        }
    }

    fn delete<K: LinkEndpoints>(&'static self) -> Endpoint {
        Endpoint {
            summary: "Delete a {noun}",
            description: "Deletes a {noun}. Its address is free at once.",
            parameters: self.id,
            success: ok(
                &self.worded("The {noun} is deleted."),
                &self.worded("Deleted{Kind}"),
                self.deletion(),
            ),
            errors: std::slice::from_ref(&self.not_found),
            ..self.endpoint("delete{Kind}", RouteMethod::Delete, self.words.path_of_one, || {
                web::to(links::delete::<K>)
            })
        }
    }

    fn delete_many<K: LinkEndpoints>(&'static self) -> Endpoint {
        let message = self.worded("No such {noun}.");
        let failure = examples::item_error(self.not_found.as_str(), &message, self.unknown_id);
        let field = self.words.ids;
        let two = self.worded("Two {nouns}");
        Endpoint {
            summary: "Delete up to 100 {nouns}",
            description: "Deletes {nouns} by their ids. An id that matches no {noun} of the account fails its own \
                          item with `{object}_not_found`; a repeated id fails with `duplicate_id_in_batch`. The answer is 200 \
                          even if every item failed. The request counts once against the quota.",
            body: Some(body(
                &self.worded("{Kind}Ids"),
                [("two", two.as_str(), json!({ field: [self.words.example_id, self.unknown_id] }))],
            )),
            success: ok(
                "The outcome of each item.",
                &self.worded("{Kind}BulkDeleteResult"),
                examples::bulk_result(BulkOperation::DELETE, &self.deletion(), &failure),
            ),
            ..self.endpoint("bulkDelete{Kind}s", RouteMethod::Post, self.words.path_of_bulk_deletion, || {
                web::to(links::delete_many::<K>)
            })
        }
    }
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
            examples::bulk_result(BulkOperation::CREATE, &redirects::example(), &failure),
        ),
        ..Endpoint::new(REDIRECTS.tag, "bulkCreateRedirects", RouteMethod::Post, "/v1/redirects/bulk", || {
            web::to(redirects::create_many)
        })
    }
}
