//! Results of bulk operations (contract "Bulk results", D29, D31, D32, D123). Each item is listed under its position in the
//! request.

use signpost_domain::{Violations, batch};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};

use crate::api_error::Detail;
use crate::error_response::ERROR_CODE;
use crate::schema::{Components, FieldType, Property, count, kind, list, named, open_object, shown, string};

/// The most items of one request (contract "Size and format bounds").
const MOST_ITEMS: usize = *batch::ITEMS.end();

shown! {
    /// An item that succeeded, described by the component `data`.
    pub(crate) struct SucceededItem<T: FieldType>(data: &str) {
        pub(crate) index: usize = index(),
        pub(crate) data: T = named(data),
    }
}

shown! {
    /// An item that failed.
    pub(crate) struct FailedItem {
        pub(crate) index: usize = index(),
        pub(crate) error: ItemError = named("BulkItemError"),
    }
}

shown! {
    /// Why an item failed.
    pub(crate) struct ItemError {
        pub(crate) code: &'static str = named(ERROR_CODE),
        pub(crate) message: String = string(
            "One or more sentences for people; they may be reworded. For an invalid item they name the first 20 \
             violations and count the others.",
        )
        .min_length(Some(1)),
        /// The value at fault as it was sent, if it is a string.
        pub(crate) value: Option<String> =
            string("The offending value, if there is one and it is a string."),
        /// The violations, as the error of the single operation lists them (D29).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub(crate) details (maybe): Option<Vec<Detail>> = list(
            "The violations of single fields, present where the error of the single operation has `details`. The first 20 \
             violations, and one entry named after the item that counts the others.",
            named("ErrorDetail"),
        )
        .min_items(Some(1))
        .max_items(Some(Violations::MAX_LISTED_OF_ITEM + 1)),
    }
}

fn index() -> ObjectBuilder {
    count("The item's position in the request's array, from 0.").maximum(Some(MOST_ITEMS - 1))
}

/// The items of a batch, each in one of the two lists.
pub(crate) struct BulkOutcome<T> {
    pub(crate) succeeded: Vec<SucceededItem<T>>,
    pub(crate) failed: Vec<FailedItem>,
}

shown! {
    /// The result of a bulk creation (D29).
    pub(crate) struct BulkCreateBody<T: FieldType>(item: &str) {
        object: &'static str = kind("bulk_create_result"),
        created_count: usize = succeeded_count(),
        failed_count: usize = failed_count(),
        created: Vec<SucceededItem<T>> = succeeded(item),
        failed: Vec<FailedItem> = failed(),
    }
}

shown! {
    /// The result of a bulk update (D123).
    pub(crate) struct BulkUpdateBody<T: FieldType>(item: &str) {
        object: &'static str = kind("bulk_update_result"),
        updated_count: usize = succeeded_count(),
        failed_count: usize = failed_count(),
        updated: Vec<SucceededItem<T>> = succeeded(item),
        failed: Vec<FailedItem> = failed(),
    }
}

shown! {
    /// The result of a bulk deletion (D31).
    pub(crate) struct BulkDeleteBody<T: FieldType>(item: &str) {
        object: &'static str = kind("bulk_delete_result"),
        failed_count: usize = failed_count(),
        deleted_count: usize = succeeded_count(),
        deleted: Vec<SucceededItem<T>> = succeeded(item),
        failed: Vec<FailedItem> = failed(),
    }
}

shown! {
    /// The result of putting links into a group (D32).
    pub(crate) struct BulkAssignBody<T: FieldType>(item: &str) {
        object: &'static str = kind("bulk_assign_result"),
        failed_count: usize = failed_count(),
        assigned_count: usize = succeeded_count(),
        assigned: Vec<SucceededItem<T>> = succeeded(item),
        failed: Vec<FailedItem> = failed(),
    }
}

shown! {
    /// The result of taking links out of a group (D32).
    pub(crate) struct BulkUnassignBody<T: FieldType>(item: &str) {
        object: &'static str = kind("bulk_unassign_result"),
        failed_count: usize = failed_count(),
        unassigned_count: usize = succeeded_count(),
        unassigned: Vec<SucceededItem<T>> = succeeded(item),
        failed: Vec<FailedItem> = failed(),
    }
}

fn succeeded_count() -> ObjectBuilder {
    count("How many items succeeded.")
}

fn failed_count() -> ObjectBuilder {
    count("How many items failed.")
}

fn succeeded(item: &str) -> ArrayBuilder {
    list("The items that succeeded.", named(item)).max_items(Some(MOST_ITEMS))
}

fn failed() -> ArrayBuilder {
    list("The items that failed.", named("BulkFailedItem")).max_items(Some(MOST_ITEMS))
}

/// Counts the items of an outcome and puts them into a result.
macro_rules! from_outcome {
    ($body:ident, $object:literal, $count:ident, $items:ident) => {
        impl<T: FieldType> From<BulkOutcome<T>> for $body<T> {
            fn from(outcome: BulkOutcome<T>) -> Self {
                let BulkOutcome { succeeded, failed } = outcome;
                Self {
                    object: $object,
                    $count: succeeded.len(),
                    failed_count: failed.len(),
                    $items: succeeded,
                    failed,
                }
            }
        }
    };
}

from_outcome!(BulkCreateBody, "bulk_create_result", created_count, created);
from_outcome!(BulkUpdateBody, "bulk_update_result", updated_count, updated);
from_outcome!(BulkDeleteBody, "bulk_delete_result", deleted_count, deleted);
from_outcome!(BulkAssignBody, "bulk_assign_result", assigned_count, assigned);
from_outcome!(BulkUnassignBody, "bulk_unassign_result", unassigned_count, unassigned);

/// The OpenAPI components of bulk results.
pub(crate) fn components() -> Components {
    // The types of items and data do not matter: components describe them.
    let (update, delete) = (BulkUpdateBody::<String>::properties, BulkDeleteBody::<String>::properties);
    let item =
        |data| open_object("An item that succeeded.", SucceededItem::<String>::properties(data)).into();
    vec![
        ("BulkCreateResult", result(BulkCreateBody::<String>::properties("BulkCreatedRedirect")).into()),
        ("BulkCreatedRedirect", item("Redirect")),
        (
            "LandingBulkCreateResult",
            result(BulkCreateBody::<String>::properties("BulkCreatedLanding")).into(),
        ),
        ("BulkCreatedLanding", item("Landing")),
        ("RedirectBulkUpdateResult", result(update("BulkUpdatedRedirect")).into()),
        ("BulkUpdatedRedirect", item("Redirect")),
        ("LandingBulkUpdateResult", result(update("BulkUpdatedLanding")).into()),
        ("BulkUpdatedLanding", item("Landing")),
        ("RedirectBulkDeleteResult", result(delete("BulkDeletedRedirect")).into()),
        ("BulkDeletedRedirect", item("DeletedRedirect")),
        ("LandingBulkDeleteResult", result(delete("BulkDeletedLanding")).into()),
        ("BulkDeletedLanding", item("DeletedLanding")),
        ("BulkAssignResult", result(BulkAssignBody::<String>::properties("BulkLink")).into()),
        ("BulkUnassignResult", result(BulkUnassignBody::<String>::properties("BulkLink")).into()),
        ("BulkLink", item("Link")),
        ("BulkFailedItem", open_object("An item that failed.", FailedItem::properties()).into()),
        ("BulkItemError", open_object("Why an item failed.", ItemError::properties()).into()),
    ]
}

/// The document always names the count of successes first. Bodies of deletions and of moves between groups do not, as in the
/// contract.
fn result(mut properties: Vec<Property>) -> ObjectBuilder {
    if let [_, first, second, ..] = properties.as_mut_slice()
        && first.name() == "failed_count"
    {
        std::mem::swap(first, second);
    }
    open_object(
        "The result of each item. Each is in one of the two lists, in the order of the request.",
        properties,
    )
}
