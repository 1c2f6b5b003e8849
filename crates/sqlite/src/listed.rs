//! Lists, without the rows that cannot be read (ADR 35).
//!
//! They are read on the thread of the request, after the reading thread has given the rows away: so that the lines of the
//! log stand among those of the request.

use signpost_domain::{Page, PageLimit};

use crate::failure::Failure;

/// A row of a list.
pub(crate) trait Listed {
    /// What the row says.
    type Item;

    /// The column `id`.
    fn id(&self) -> &[u8];

    fn read(self) -> Result<Self::Item, Failure>;
}

/// The page of the up to `limit + 1` rows that were found. Rows that cannot be read count like the others, so the next
/// page begins behind them.
pub(crate) fn page<R: Listed>(rows: Vec<R>, limit: PageLimit) -> Page<R::Item> {
    Page::from_one_more(rows, limit, |row| position(row.id())).filter_map(readable)
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

/// The place behind a row, also behind one whose id does not have 16 bytes. SQLite compares bytes first and lengths then,
/// so the highest id of 16 bytes that is not above it is its beginning, or what precedes it filled up with zeros.
pub(crate) fn position(id: &[u8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(id) {
        *to = *from;
    }
    if id.len() < bytes.len() { u128::from_be_bytes(bytes).saturating_sub(1).to_be_bytes() } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_behind_an_id_of_any_length_is_not_above_it() {
        assert_eq!(position(&[7; 16]), [7; 16]);
        for id in [&[0, 255][..], &[7; 15], &[7; 17], &[1]] {
            let place = position(id);
            assert!(place.as_slice() <= id, "{id:?}: {place:?}");
        }
        assert_eq!(
            position(&[0, 1]),
            [0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }
}
