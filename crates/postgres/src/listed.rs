//! Lists, without the rows that cannot be read (ADR 35).

use signpost_domain::{Page, PageLimit};

use crate::columns::IdBytes;
use crate::failure::Failure;

/// A row of a list.
pub(crate) trait Listed {
    /// What the row says.
    type Item;

    /// The column `id`.
    fn id(&self) -> IdBytes;

    fn read(self) -> Result<Self::Item, Failure>;
}

/// The page of the rows that were found: `limit` of them, one that tells that there are more, and perhaps some beyond, which
/// are not judged. Rows that cannot be read count like the others, so the next page begins behind them.
pub(crate) fn page<R: Listed>(mut rows: Vec<R>, limit: PageLimit) -> Page<R::Item> {
    rows.truncate(usize::from(limit.get()) + 1);
    Page::from_one_more(rows, limit, |row| row.id().get()).filter_map(readable)
}

/// What the row says. If it cannot be read, it must not take the rest of its list with it: the log tells the operator.
pub(crate) fn readable<R: Listed>(row: R) -> Option<R::Item> {
    match row.read() {
        Ok(item) => Some(item),
        Err(failure) => {
            tracing::error!(%failure, "a list leaves out a row that cannot be read");
            None
        }
    }
}
