//! Lists, without the rows that cannot be read (ADR 35).

use signpost_domain::{Page, PageLimit};

use crate::Corrupt;
use crate::columns::StoredId;

/// A row of a list.
pub trait Listed {
    /// What the row says.
    type Item;

    /// The column `id`.
    fn id(&self) -> &StoredId;

    /// What the row says, if it is as it must be.
    fn read(self) -> Result<Self::Item, Corrupt>;
}

/// The page of the rows that were found: `limit` of them, one that tells that there are more, and perhaps some beyond, which
/// are not judged. Rows that cannot be read count like the others, so the next page begins behind them.
///
/// Call it on the thread of the request, so that the lines of the log stand among those of the request.
pub fn page<R: Listed>(mut rows: Vec<R>, limit: PageLimit) -> Page<R::Item> {
    rows.truncate(usize::from(limit.get()) + 1);
    Page::from_one_more(rows, limit, |row| row.id().position()).filter_map(readable)
}

/// What the row says. If it cannot be read, it must not take the rest of its list with it: the log tells the operator.
pub fn readable<R: Listed>(row: R) -> Option<R::Item> {
    match row.read() {
        Ok(item) => Some(item),
        Err(failure) => {
            tracing::error!(%failure, "a list leaves out a row that cannot be read");
            None
        }
    }
}
