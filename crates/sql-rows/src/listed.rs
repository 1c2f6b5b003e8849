//! Lists, which omit unreadable rows (ADR 35).

use signpost_domain::{Page, PageLimit, PagePosition};

use crate::Corrupt;
use crate::columns::StoredId;

/// A row of a list.
pub trait Listed {
    /// The item of a row.
    type Item;

    /// The column `id`.
    fn id(&self) -> &StoredId;

    /// The item, if the row is valid.
    fn read(self) -> Result<Self::Item, Corrupt>;
}

/// The page made from the rows that a query found: up to `limit` of them. One more row tells that there is a next page;
/// further rows are ignored. Unreadable rows count like the others, so the next page begins after them.
///
/// Call it on the thread of the request, so that its log lines belong to the request.
pub fn page<R: Listed>(mut rows: Vec<R>, limit: PageLimit) -> Page<R::Item> {
    rows.truncate(usize::from(limit.get()) + 1);
    Page::from_one_more(rows, limit, |row| row.id().position()).filter_map(readable)
}

/// The page made from a part of a list: like [`page`], but `last` is the last id that was looked at, behind which more may follow.
#[must_use]
pub fn part<R: Listed>(rows: Vec<R>, limit: PageLimit, last: Option<&StoredId>) -> Page<R::Item> {
    let page = page(rows, limit);
    let next = page.next.or_else(|| last.map(|last| PagePosition::behind(last.position())));
    Page { next, ..page }
}

/// The item of a row. An unreadable row must not fail the whole list, so it is logged for the operator and omitted.
pub fn readable<R: Listed>(row: R) -> Option<R::Item> {
    readable_or_logged(row.read())
}

/// As [`readable`], for a row that has no id.
pub fn readable_or_logged<T>(item: Result<T, Corrupt>) -> Option<T> {
    match item {
        Ok(item) => Some(item),
        Err(failure) => {
            tracing::error!(%failure, "a list leaves out a row that cannot be read");
            None
        }
    }
}
