//! Bodies of responses that all resources share.

mod bulk;
mod deletion;
mod json;
mod list;

use crate::schema::Components;

pub(crate) use crate::api_error::{Detail, sentence};
pub(crate) use bulk::{
    BulkAssignBody, BulkCreateBody, BulkDeleteBody, BulkOutcome, BulkUnassignBody, BulkUpdateBody,
    FailedItem, ItemError, SucceededItem,
};
pub(crate) use deletion::{DeletionBody, deleted};
pub(crate) use json::{Text, Verbatim, created, json, ok, tagged};
pub(crate) use list::{ListBody, page_of};

/// The OpenAPI components of these bodies.
pub(crate) fn components() -> Components {
    [list::components(), bulk::components()].concat()
}
