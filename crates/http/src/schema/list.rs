//! Pages of lists (contract "List envelope").

use utoipa::openapi::schema::ObjectBuilder;

use super::object::{always, boolean, closed_object, kind, list, named, or_null, string};
use super::{CURSOR, Components};

/// The components about lists.
pub(crate) fn components() -> Components {
    let pagination = closed_object(
        "Whether there is more, and where it begins.",
        [
            always("has_more", boolean("Whether another page follows.")),
            always(
                "next_cursor",
                or_null(
                    string("What to pass back unchanged as `cursor`; null when `has_more` is false.")
                        .max_length(Some(512))
                        .pattern(Some(CURSOR))
                        .into(),
                ),
            ),
        ],
    );
    vec![
        ("RedirectList", page_of("ListedRedirect", "One page of redirects, newest first.").into()),
        ("LandingList", page_of("ListedLanding", "One page of landing pages, newest first.").into()),
        ("GroupList", page_of("Group", "One page of groups, newest first.").into()),
        ("DomainList", page_of("Domain", "One page of domains, newest first.").into()),
        ("PixelList", page_of("Pixel", "One page of pixels, newest first.").into()),
        ("Pagination", pagination.into()),
    ]
}

fn page_of(resource: &str, description: &str) -> ObjectBuilder {
    let data = list("The items of this page.", named(resource)).max_items(Some(100));
    closed_object(
        description,
        [always("object", kind("list")), always("data", data), always("pagination", named("Pagination"))],
    )
}
