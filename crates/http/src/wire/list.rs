//! Pages of lists (contract "List envelope").

use serde::Serialize;
use signpost_domain::Page;
use utoipa::openapi::{RefOr, Schema};

use crate::cursor::CursorScope;
use crate::schema::{CURSOR, Components, boolean, kind, list, matching, named, open_object, shown, string};

shown! {
    /// One page of a list, whose items are described by the component `item`.
    pub(crate) struct ListBody<T: Serialize>(item: &str) {
        object: &'static str = kind("list"),
        data: Vec<T> = list("The items of this page.", named(item)).max_items(Some(100)),
        pagination: Pagination = named("Pagination"),
    }
}

shown! {
    struct Pagination {
        has_more: bool = boolean("Whether another page follows."),
        next_cursor: Option<String> =
            matching(string("Send this back unchanged as `cursor`; null when `has_more` is false."), CURSOR)
                .max_length(Some(512)),
    }
}

impl<T: Serialize> ListBody<T> {
    /// A page, with a cursor to the next one that is bound to `scope`.
    pub(crate) fn new(page: Page<T>, scope: &CursorScope) -> Self {
        // The store logged the rows that it left out.
        let Page { items, next, left_out: _ } = page;
        let next_cursor = next.map(|position| scope.seal(position));
        let pagination = Pagination { has_more: next_cursor.is_some(), next_cursor };
        Self { object: "list", data: items, pagination }
    }
}

/// The component of a page whose items are described by the component `item`.
pub(crate) fn page_of(item: &str, description: &str) -> RefOr<Schema> {
    // The type of the items does not matter: a component describes them.
    open_object(description, ListBody::<String>::properties(item)).into()
}

/// The OpenAPI components that all lists share.
pub(crate) fn components() -> Components {
    vec![(
        "Pagination",
        open_object("Whether another page follows, and its cursor.", Pagination::properties()).into(),
    )]
}
