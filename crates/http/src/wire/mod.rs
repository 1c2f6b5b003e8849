//! Parts of answers that all resources share.

mod bulk;
mod deletion;
mod detail;
mod json_response;
mod list;
mod text;

pub(crate) use bulk::{
    BulkAssignBody, BulkCreateBody, BulkDeleteBody, BulkOutcome, BulkUnassignBody, FailedItem, ItemError,
    SucceededItem,
};
pub(crate) use deletion::DeletionBody;
pub(crate) use detail::{Detail, sentence, sentence_schema};
pub(crate) use json_response::{created, json, ok};
pub(crate) use list::ListBody;
pub(crate) use text::Text;
