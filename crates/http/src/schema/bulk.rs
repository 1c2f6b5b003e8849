//! Bulk requests and their results (contract "Bulk results", D29, D31).

use signpost_domain::{ErrorCode, Violations, batch};
use utoipa::openapi::schema::ObjectBuilder;

use super::Components;
use super::object::{AnySchema, always, closed_object, count, kind, list, maybe, named, or_null, string};

/// The most items of one request (contract "Size and format bounds").
const MOST_ITEMS: usize = *batch::ITEMS.end();

/// What a bulk operation does, and how its result says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BulkOperation {
    /// The result's `object`.
    pub(crate) object: &'static str,
    /// The field with the items that succeeded.
    pub(crate) items: &'static str,
    /// The field with their number.
    pub(crate) count: &'static str,
}

impl BulkOperation {
    /// Items are created.
    pub(crate) const CREATE: Self =
        Self { object: "bulk_create_result", items: "created", count: "created_count" };
    /// Items are deleted.
    pub(crate) const DELETE: Self =
        Self { object: "bulk_delete_result", items: "deleted", count: "deleted_count" };
    /// Links are put into a group.
    pub(crate) const ASSIGN: Self =
        Self { object: "bulk_assign_result", items: "assigned", count: "assigned_count" };
    /// Links are taken out of a group.
    pub(crate) const UNASSIGN: Self =
        Self { object: "bulk_unassign_result", items: "unassigned", count: "unassigned_count" };
}

/// The components about bulk operations.
pub(crate) fn components() -> Components {
    vec![
        ("BulkCreateResult", result(BulkOperation::CREATE, named("Redirect")).into()),
        ("RedirectBulkDeleteResult", result(BulkOperation::DELETE, named("DeletedRedirect")).into()),
        ("LandingBulkDeleteResult", result(BulkOperation::DELETE, named("DeletedLanding")).into()),
        ("BulkAssignResult", result(BulkOperation::ASSIGN, named("Link")).into()),
        ("BulkUnassignResult", result(BulkOperation::UNASSIGN, named("Link")).into()),
        ("BulkFailedItem", failed_item().into()),
        ("BulkItemError", item_error().into()),
    ]
}

/// A result: how many items succeeded and failed, and which.
fn result(operation: BulkOperation, data: impl Into<AnySchema>) -> ObjectBuilder {
    let BulkOperation { object, items, count: succeeded_count } = operation;
    let succeeded =
        closed_object("An item that succeeded.", [always("index", index()), always("data", data)]);
    let most = Some(MOST_ITEMS);
    closed_object(
        "What became of each item: it stands in one of the two lists, in the order of the request.",
        [
            always("object", kind(object)),
            always(succeeded_count, count("How many items succeeded.")),
            always("failed_count", count("How many items failed.")),
            always(items, list("The items that succeeded.", succeeded).max_items(most)),
            always("failed", list("The items that failed.", named("BulkFailedItem")).max_items(most)),
        ],
    )
}

fn index() -> ObjectBuilder {
    count("The item's position in the request's array, from 0.").maximum(Some(MOST_ITEMS - 1))
}

fn failed_item() -> ObjectBuilder {
    closed_object("An item that failed.", [always("index", index()), always("error", named("BulkItemError"))])
}

fn item_error() -> ObjectBuilder {
    let details = list(
        "What is wrong with single fields, as the error of the single operation lists it: there where that has `details`. \
         The first 20 violations, and one entry named after the item that counts the others.",
        named("ErrorDetail"),
    )
    .min_items(Some(1))
    .max_items(Some(Violations::MAX_LISTED_OF_ITEM + 1));
    closed_object(
        "Why an item failed.",
        [
            always(
                "code",
                string("The machine code, one of those that errors have.")
                    .enum_values(Some(ErrorCode::ALL.iter().map(|code| code.as_str()))),
            ),
            always("message", string(
                    "One or more sentences for people; they may be reworded. Of an item that breaks rules they name the \
                     first 20 violations and count the others.",
                ).min_length(Some(1))),
            always(
                "value",
                or_null(string("The offending value, where the failure points at one that is a string.").into()),
            ),
            maybe("details", details),
        ],
    )
}
