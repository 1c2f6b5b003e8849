//! Operations on links: what the two kinds share, described once.

use serde_json::{Value, json};
use signpost_domain::ErrorCode;

use super::{Endpoint, body, created, ok};
use crate::openapi::parameters::{Name, OF_LINK_LISTS};
use crate::routes::RouteMethod;
use crate::schema::{BulkOperation, examples};

/// A kind of links, as its operations are described. Their texts have the words of the kind in braces.
pub(super) struct Kind {
    pub(super) tag: &'static str,
    /// `{noun}`
    pub(super) noun: &'static str,
    /// `{nouns}`
    pub(super) plural: &'static str,
    /// `{Kind}`: what components and operations are named after.
    pub(super) component: &'static str,
    /// `{object}`
    pub(super) object: &'static str,
    pub(super) path: &'static str,
    pub(super) path_of_one: &'static str,
    pub(super) path_of_bulk_deletion: &'static str,
    pub(super) id: &'static [Name],
    pub(super) not_found: ErrorCode,
    /// What answers about a single one show.
    pub(super) shows: &'static str,
    /// The errors of a creation.
    pub(super) creation_errors: &'static [ErrorCode],
    /// The errors of an update.
    pub(super) update_errors: &'static [ErrorCode],
    pub(super) example_id: &'static str,
    pub(super) unknown_id: &'static str,
    pub(super) listed: fn() -> Value,
    pub(super) single: fn() -> Value,
    /// Fields of a creation: only those that it must have, and all.
    pub(super) creations: fn() -> (Value, Value),
}

impl Kind {
    /// A text with the words of the kind.
    pub(super) fn worded(&self, text: &str) -> String {
        text.replace("{noun}", self.noun)
            .replace("{nouns}", self.plural)
            .replace("{Kind}", self.component)
            .replace("{object}", self.object)
    }

    fn endpoint(&'static self, id: &'static str, method: RouteMethod, path: &'static str) -> Endpoint {
        Endpoint { kind: Some(self), ..Endpoint::new(self.tag, id, method, path) }
    }

    fn deletion(&self) -> Value {
        let message = self.worded("The {noun} is deleted and its address is free.");
        examples::deletion(self.example_id, self.object, &message)
    }

    pub(super) fn create(&'static self) -> Endpoint {
        let (shortest, longest) = (self.creations)();
        Endpoint {
            summary: "Create a {noun}",
            description: "Creates a {noun}. Without `slug` it gets 7 random characters; without `domain` it lives on \
                          the system domain.",
            body: Some(body(
                &self.worded("New{Kind}"),
                [
                    ("shortest", "A random slug on the system domain", shortest),
                    ("with_every_field", "With every field", longest),
                ],
            )),
            success: created(&self.worded("The {noun}."), &self.worded("Single{Kind}"), (self.single)()),
            errors: self.creation_errors,
            ..self.endpoint("create{Kind}", RouteMethod::Post, self.path)
        }
    }

    pub(super) fn list(&'static self) -> Endpoint {
        Endpoint {
            summary: "List {nouns}",
            description: "Lists the account's {nouns}, newest first. Filters narrow the list together. Walking it \
                          while links come and go shows every {noun} that was there all the time exactly once.",
            parameters: OF_LINK_LISTS,
            success: ok("One page.", &self.worded("{Kind}List"), examples::page_of(&(self.listed)())),
            ..self.endpoint("list{Kind}s", RouteMethod::Get, self.path)
        }
    }

    pub(super) fn get(&'static self) -> Endpoint {
        Endpoint {
            summary: "Retrieve a {noun}",
            description: self.shows,
            parameters: self.id,
            success: ok(&self.worded("The {noun}."), &self.worded("Single{Kind}"), (self.single)()),
            errors: std::slice::from_ref(&self.not_found),
            ..self.endpoint("get{Kind}", RouteMethod::Get, self.path_of_one)
        }
    }

    /// An update, with an example for each purpose.
    pub(super) fn update<const N: usize>(
        &'static self,
        examples: [(&'static str, &'static str, Value); N],
    ) -> Endpoint {
        Endpoint {
            summary: "Update a {noun}",
            description: "Changes the fields that the body has, and no other. What null does is said at each field. The \
                          {noun} is judged by the place where it ends, not field by field: `slug` null is refused with \
                          `slug_required_for_system_domain` if that place is on the system domain. `updated_at` moves \
                          only when something changed.",
            parameters: self.id,
            body: Some(body(&self.worded("{Kind}Patch"), examples)),
            success: ok(
                &self.worded("The {noun} as it is now."),
                &self.worded("Single{Kind}"),
                (self.single)(),
            ),
            errors: self.update_errors,
            ..self.endpoint("update{Kind}", RouteMethod::Patch, self.path_of_one)
        }
    }

    pub(super) fn delete(&'static self) -> Endpoint {
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
            ..self.endpoint("delete{Kind}", RouteMethod::Delete, self.path_of_one)
        }
    }

    pub(super) fn delete_many(&'static self) -> Endpoint {
        let message = self.worded("No such {noun}.");
        let failure = examples::item_error(self.not_found.as_str(), &message, self.unknown_id);
        let field = self.worded("{object}_ids");
        let two = self.worded("Two {nouns}");
        Endpoint {
            summary: "Delete up to 100 {nouns}",
            description: "Deletes {nouns} by their ids. An id that is no {noun} of the account fails by itself with \
                          `{object}_not_found`; one that stands there a second time, with `duplicate_id_in_batch`. The \
                          answer is 200 also if every item failed. The request counts once against the quota.",
            body: Some(body(
                &self.worded("{Kind}Ids"),
                [("two", two.as_str(), json!({ field: [self.example_id, self.unknown_id] }))],
            )),
            success: ok(
                "What became of each item.",
                &self.worded("{Kind}BulkDeleteResult"),
                examples::bulk_result(BulkOperation::DELETE, &self.deletion(), &failure),
            ),
            ..self.endpoint("delete{Kind}s", RouteMethod::Post, self.path_of_bulk_deletion)
        }
    }
}
