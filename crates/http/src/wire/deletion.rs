//! Responses to deletions (D5).

use signpost_domain::{Id, IdKind};
use utoipa::openapi::{RefOr, Schema};

use super::json::Text;
use crate::schema::{boolean, id, kind, only, open_object, shown, string};

shown! {
    /// A deleted resource of the kind `resource`.
    #[serde(bound = "K: IdKind")]
    pub(crate) struct DeletionBody<K: IdKind>(resource: &str, example: &str) {
        id: Text<Id<K>> = id(example, "The id of the deleted resource."),
        object: &'static str = kind(resource),
        deleted: bool = only(boolean("Always true."), true),
        message: &'static str = string("A sentence for people; it may be reworded.").min_length(Some(1)),
    }
}

impl<K: IdKind> DeletionBody<K> {
    /// The resource of the kind `object` with this id is gone; `message` says so to people.
    pub(crate) const fn new(id: Id<K>, object: &'static str, message: &'static str) -> Self {
        Self { id: Text(id), object, deleted: true, message }
    }
}

/// The component of a response to the deletion of a resource of the kind `resource`, with this id in examples.
pub(crate) fn deleted<K: IdKind>(resource: &str, example: &str) -> RefOr<Schema> {
    open_object("The deleted resource.", DeletionBody::<K>::properties(resource, example)).into()
}
