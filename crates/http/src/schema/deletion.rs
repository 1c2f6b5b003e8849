//! Answers to deletions (D5).

use utoipa::openapi::schema::ObjectBuilder;

use super::Components;
use super::fields::id;
use super::object::{always, boolean, closed_object, kind, string};

/// The components about deletions.
pub(crate) fn components() -> Components {
    vec![
        ("DeletedRedirect", deletion("rdr", "redirect").into()),
        ("DeletedLanding", deletion("lnd", "landing").into()),
        ("DeletedGroup", deletion("grp", "group").into()),
        ("DeletedDomain", deletion("dom", "domain").into()),
        ("DeletedPixel", deletion("pxl", "pixel").into()),
    ]
}

fn deletion(prefix: &str, object: &str) -> ObjectBuilder {
    closed_object(
        "What was deleted.",
        [
            always("id", id(prefix, "The id that it had.")),
            always("object", kind(object)),
            always("deleted", boolean("Always true.").enum_values(Some([true]))),
            always("message", string("A sentence for people; it may be reworded.").min_length(Some(1))),
        ],
    )
}
