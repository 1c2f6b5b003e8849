//! Results of bulk operations (contract "Bulk results", D29, D32). What became of an item is said under its position
//! in the request.

use serde::Serialize;
use signpost_domain::IdKind;

use super::deletion::DeletionBody;
use super::detail::Detail;
use crate::resources::links::LinkBody;
use crate::resources::redirects::RedirectBody;

/// An item that succeeded.
#[derive(Serialize)]
pub(crate) struct SucceededItem<T> {
    pub(crate) index: usize,
    pub(crate) data: T,
}

/// An item that failed.
#[derive(Serialize)]
pub(crate) struct FailedItem {
    pub(crate) index: usize,
    pub(crate) error: ItemError,
}

/// Why an item failed.
#[derive(Serialize)]
pub(crate) struct ItemError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// What was sent, where the failure points at one value that is a string.
    pub(crate) value: Option<String>,
    /// What is wrong with single fields, as the single operation's error lists it (D29).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Vec<Detail>>,
}

/// What became of a batch: each item stands in one of the two.
pub(crate) struct BulkOutcome<T> {
    pub(crate) succeeded: Vec<SucceededItem<T>>,
    pub(crate) failed: Vec<FailedItem>,
}

/// The result of a bulk creation (D29).
#[derive(Serialize)]
pub(crate) struct BulkCreateBody {
    object: &'static str,
    created_count: usize,
    failed_count: usize,
    created: Vec<SucceededItem<RedirectBody>>,
    failed: Vec<FailedItem>,
}

impl From<BulkOutcome<RedirectBody>> for BulkCreateBody {
    fn from(outcome: BulkOutcome<RedirectBody>) -> Self {
        let BulkOutcome { succeeded, failed } = outcome;
        Self {
            object: "bulk_create_result",
            created_count: succeeded.len(),
            failed_count: failed.len(),
            created: succeeded,
            failed,
        }
    }
}

/// The result of a bulk deletion.
#[derive(Serialize)]
#[serde(bound = "K: IdKind")]
pub(crate) struct BulkDeleteBody<K> {
    object: &'static str,
    failed_count: usize,
    deleted_count: usize,
    deleted: Vec<SucceededItem<DeletionBody<K>>>,
    failed: Vec<FailedItem>,
}

impl<K> From<BulkOutcome<DeletionBody<K>>> for BulkDeleteBody<K> {
    fn from(outcome: BulkOutcome<DeletionBody<K>>) -> Self {
        let BulkOutcome { succeeded, failed } = outcome;
        Self {
            object: "bulk_delete_result",
            failed_count: failed.len(),
            deleted_count: succeeded.len(),
            deleted: succeeded,
            failed,
        }
    }
}

/// The result of putting links into a group (D32).
#[derive(Serialize)]
pub(crate) struct BulkAssignBody {
    object: &'static str,
    failed_count: usize,
    assigned_count: usize,
    assigned: Vec<SucceededItem<LinkBody>>,
    failed: Vec<FailedItem>,
}

impl From<BulkOutcome<LinkBody>> for BulkAssignBody {
    fn from(outcome: BulkOutcome<LinkBody>) -> Self {
        let BulkOutcome { succeeded, failed } = outcome;
        Self {
            object: "bulk_assign_result",
            failed_count: failed.len(),
            assigned_count: succeeded.len(),
            assigned: succeeded,
            failed,
        }
    }
}

/// The result of taking links out of a group.
#[derive(Serialize)]
pub(crate) struct BulkUnassignBody {
    object: &'static str,
    failed_count: usize,
    unassigned_count: usize,
    unassigned: Vec<SucceededItem<LinkBody>>,
    failed: Vec<FailedItem>,
}

impl From<BulkOutcome<LinkBody>> for BulkUnassignBody {
    fn from(outcome: BulkOutcome<LinkBody>) -> Self {
        let BulkOutcome { succeeded, failed } = outcome;
        Self {
            object: "bulk_unassign_result",
            failed_count: failed.len(),
            unassigned_count: succeeded.len(),
            unassigned: succeeded,
            failed,
        }
    }
}
