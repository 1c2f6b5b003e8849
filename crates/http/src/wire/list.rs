//! The list envelope (contract "List envelope").

use serde::Serialize;
use signpost_domain::Page;

use crate::cursor::CursorScope;

/// One page of a list.
#[derive(Serialize)]
pub(crate) struct ListBody<T> {
    object: &'static str,
    data: Vec<T>,
    pagination: Pagination,
}

#[derive(Serialize)]
struct Pagination {
    has_more: bool,
    next_cursor: Option<String>,
}

impl<T> ListBody<T> {
    /// A page, with a cursor to the next one that is bound to `scope`.
    pub(crate) fn new(page: Page<T>, scope: &CursorScope) -> Self {
        // What is left out was logged where it was left out.
        let Page { items, next, left_out: _ } = page;
        let next_cursor = next.map(|position| scope.seal(position));
        let pagination = Pagination { has_more: next_cursor.is_some(), next_cursor };
        Self { object: "list", data: items, pagination }
    }
}
