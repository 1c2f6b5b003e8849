//! The answer to a deletion (D5).

use serde::Serialize;
use signpost_domain::{Id, IdKind};

use super::text::Text;

/// What was deleted.
#[derive(Serialize)]
#[serde(bound = "K: IdKind")]
pub(crate) struct DeletionBody<K> {
    id: Text<Id<K>>,
    object: &'static str,
    deleted: bool,
    message: &'static str,
}

impl<K: IdKind> DeletionBody<K> {
    /// The thing of kind `object` with this id is gone; `message` says so to people.
    pub(crate) const fn new(id: Id<K>, object: &'static str, message: &'static str) -> Self {
        Self { id: Text(id), object, deleted: true, message }
    }
}
