//! The endpoints of links, which both kinds share.

use actix_web::{Route, web};
use serde_json::{Value, json};
use signpost_domain::ErrorCode;

use super::link_batches;
use super::links::{self, LinkEndpoints, LinkWords};
use crate::endpoint::RouteMethod;
use crate::openapi::operation::{Endpoint, body, created, ok, precondition_failed, tagged};
use crate::openapi::parameters::{Name, OF_LINK_LISTS};
use crate::schema::{BulkOperation, examples};

/// The descriptions of a kind's endpoints. Their texts have placeholders for the kind's names in braces.
pub(super) struct KindDescriptions {
    /// [`Self::worded`] of this kind.
    pub(super) wording: fn(&str) -> String,
    /// `{noun}`, `{nouns}`, `{object}`, and the paths.
    pub(super) words: LinkWords,
    /// `{Kind}`: what components and operations are named after.
    pub(super) component: &'static str,
    pub(super) id: &'static [Name],
    pub(super) id_and_condition: &'static [Name],
    pub(super) external_id_and_conditions: &'static [Name],
    pub(super) not_found: ErrorCode,
    /// The description of answers about a single link.
    pub(super) shows: &'static str,
    pub(super) creation_errors: &'static [ErrorCode],
    pub(super) update_errors: &'static [ErrorCode],
    pub(super) unknown_id: &'static str,
    pub(super) listed: fn() -> Value,
    pub(super) single: fn() -> Value,
    /// Example bodies of a creation: with the required fields only, and with every field.
    pub(super) creations: fn() -> (Value, Value),
}

impl KindDescriptions {
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
        Endpoint { wording: self.wording, ..Endpoint::new(id, method, path, handler) }
    }

    fn deletion(&self) -> Value {
        examples::deletion(self.words.example_id, self.words.object, self.words.deleted)
    }

    pub(super) fn create<K: LinkEndpoints>(&'static self) -> Endpoint {
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
            success: tagged(created(&self.worded("The {noun}."), self.component, (self.single)())),
            errors: self.creation_errors,
            ..self
                .endpoint("create{Kind}", RouteMethod::Post, self.words.path, || web::to(links::create::<K>))
        }
    }

    pub(super) fn list<K: LinkEndpoints>(&'static self) -> Endpoint {
        Endpoint {
            summary: "List {nouns}",
            description: "Lists the account's {nouns}, newest first. All filters must match. Reading all pages \
                          during concurrent changes returns every {noun} that exists throughout exactly once.",
            parameters: OF_LINK_LISTS,
            success: ok("One page.", &self.worded("{Kind}List"), examples::page_of(&(self.listed)())),
            ..self.endpoint("list{Kind}s", RouteMethod::Get, self.words.path, || web::to(links::list::<K>))
        }
    }

    pub(super) fn get<K: LinkEndpoints>(&'static self) -> Endpoint {
        Endpoint {
            summary: "Retrieve a {noun}",
            description: self.shows,
            parameters: self.id,
            success: tagged(ok(&self.worded("The {noun}."), self.component, (self.single)())),
            errors: std::slice::from_ref(&self.not_found),
            ..self
                .endpoint("get{Kind}", RouteMethod::Get, self.words.path_of_one, || web::to(links::get::<K>))
        }
    }

    /// The creation or change of the link with an external id.
    pub(super) fn put<K: LinkEndpoints>(&'static self) -> Endpoint {
        let (shortest, _) = (self.creations)();
        Endpoint {
            summary: "Create or change the {noun} with an external id",
            description: "Creates the {noun} with this external id, or changes the one that has it, field by field as an \
                          update does: absent fields stay unchanged. Of several requests at once, one creates it. Sending \
                          it again changes nothing more, so it needs no `Idempotency-Key`.",
            parameters: self.external_id_and_conditions,
            body: Some(body(&self.worded("{Kind}Put"), [("shortest", "The required fields", shortest)])),
            success: tagged(created(&self.worded("The new {noun}."), self.component, (self.single)())),
            errors: self.creation_errors,
            others: vec![
                tagged(ok(&self.worded("The {noun} as it is now."), self.component, (self.single)())),
                precondition_failed(),
            ],
            ..self.endpoint("put{Kind}ByExternalId", RouteMethod::Put, self.words.path_of_external_id, || {
                web::to(links::put::<K>)
            })
        }
    }

    /// An update, with an example for each purpose.
    pub(super) fn update<K: LinkEndpoints>(
        &'static self,
        examples: [(&'static str, &'static str, Value); 3],
    ) -> Endpoint {
        Endpoint {
            summary: "Update a {noun}",
            description: "Changes only the fields in the body. Each field says what null does. The rules apply \
                          to the resulting address of the {noun}, not to each field: `slug` null is refused with \
                          `slug_required_for_system_domain` if the result is on the system domain. `updated_at` \
                          and `revision` change only if a field changes.",
            parameters: self.id_and_condition,
            body: Some(body(&self.worded("{Kind}Patch"), examples)),
            success: tagged(ok(&self.worded("The {noun} as it is now."), self.component, (self.single)())),
            others: vec![precondition_failed()],
            errors: self.update_errors,
            ..self.endpoint("update{Kind}", RouteMethod::Patch, self.words.path_of_one, || {
                web::to(links::update::<K>)
            })
        }
    }

    pub(super) fn delete<K: LinkEndpoints>(&'static self) -> Endpoint {
        Endpoint {
            summary: "Delete a {noun}",
            description: "Deletes a {noun}. Its address is free at once.",
            parameters: self.id_and_condition,
            others: vec![precondition_failed()],
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

    /// The result of a bulk creation, of which the second item has a taken slug.
    pub(super) fn creations_result(&self) -> Value {
        let mut failure = examples::item_error("slug_already_taken", examples::TAKEN, "winter-sale");
        if let Some(fields) = failure.as_object_mut() {
            fields.insert("details".to_owned(), json!([examples::taken_slug()]));
        }
        examples::bulk_result(BulkOperation::CREATE, &(self.listed)(), &failure)
    }

    /// A bulk creation, with an example of two links.
    pub(super) fn create_many<K: LinkEndpoints>(&'static self, two_links: Value) -> Endpoint {
        let two = self.worded("Two {nouns}");
        Endpoint {
            summary: "Create up to 100 {nouns}",
            description: "Creates {nouns}, in the order of the array. Each item is the body of a single creation, \
                          and succeeds or fails on its own with the code of the single creation. If two items have \
                          the same address, the later one fails with `duplicate_slug_in_batch`. The answer is 200 \
                          even if every item failed. All successful items are committed together; after an internal \
                          error, either all of them were created or none. The request counts once against the quota.",
            body: Some(body(&self.worded("{Kind}Batch"), [("two", two.as_str(), two_links)])),
            success: ok(
                "The outcome of each item.",
                &self.worded("{Kind}BulkCreateResult"),
                self.creations_result(),
            ),
            ..self.endpoint("bulkCreate{Kind}s", RouteMethod::Post, self.words.path_of_bulk, || {
                web::to(link_batches::create_many::<K>)
            })
        }
    }

    /// A bulk update, with two activated links for an example, of which one does not exist.
    pub(super) fn update_many<K: LinkEndpoints>(&'static self) -> Endpoint {
        let (list, own, unknown) = (self.words.list, self.words.example_id, self.unknown_id);
        let two_links = json!({
            list: [{"id": own, "is_active": true}, {"id": unknown, "is_active": true}],
        });
        let with_revision = json!({
            list: [
                {"external_id": examples::EXTERNAL_ID, "tags": ["mail", "Sale"], "if_revision": examples::REVISION},
                {"id": own, "external_id": "order-4712", "group_id": null, "note": null},
            ],
        });
        let message = self.worded("No such {noun}.");
        let failure = examples::item_error(self.not_found.as_str(), &message, unknown);
        let two = self.worded("Two {nouns}");
        Endpoint {
            summary: "Update up to 100 {nouns}",
            description: "Changes {nouns}, in the order of the array. Each item names its {noun} by `id` or, without `id`, \
                          by `external_id`, and has the fields of a single update beside it. It succeeds or fails on its \
                          own with the code of the single update. With `if_revision`, it fails if the {noun} has another \
                          revision. If two items name the same {noun}, the later one fails with \
                          `duplicate_id_in_batch`. The answer is 200 even if every item failed. All successful items are \
                          committed together; after an internal error, either all of them were made or none. The \
                          request counts once against the quota.",
            body: Some(body(
                &self.worded("{Kind}PatchBatch"),
                [
                    ("two", two.as_str(), two_links),
                    (
                        "with_revision",
                        "By external id, with a condition, and a new external id",
                        with_revision,
                    ),
                ],
            )),
            success: ok(
                "The outcome of each item.",
                &self.worded("{Kind}BulkUpdateResult"),
                examples::bulk_result(BulkOperation::UPDATE, &(self.listed)(), &failure),
            ),
            ..self.endpoint("bulkUpdate{Kind}s", RouteMethod::Patch, self.words.path_of_bulk, || {
                web::to(link_batches::update_many::<K>)
            })
        }
    }

    pub(super) fn delete_many<K: LinkEndpoints>(&'static self) -> Endpoint {
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
