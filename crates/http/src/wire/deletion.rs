//! Responses to deletions (D5).

use signpost_domain::id::{DomainKind, GroupKind, LandingKind, PixelKind, RedirectKind};
use signpost_domain::{Id, IdKind};
use utoipa::openapi::schema::ObjectBuilder;

use super::json::Text;
use crate::schema::{Components, boolean, id, kind, only, open_object, shown, string};

shown! {
    /// A deleted resource of the kind `resource`.
    #[serde(bound = "K: IdKind")]
    pub(crate) struct DeletionBody<K: IdKind>(resource: &str) {
        id: Text<Id<K>> = id(K::PREFIX.trim_end_matches('_'), "The id of the deleted resource."),
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

/// The OpenAPI components of deletions.
pub(crate) fn components() -> Components {
    vec![
        ("DeletedRedirect", deletion::<RedirectKind>("redirect").into()),
        ("DeletedLanding", deletion::<LandingKind>("landing").into()),
        ("DeletedGroup", deletion::<GroupKind>("group").into()),
        ("DeletedDomain", deletion::<DomainKind>("domain").into()),
        ("DeletedPixel", deletion::<PixelKind>("pixel").into()),
    ]
}

fn deletion<K: IdKind>(resource: &str) -> ObjectBuilder {
    open_object("The deleted resource.", DeletionBody::<K>::properties(resource))
}
