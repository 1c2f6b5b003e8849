//! Values on their way into a statement and out of a row, for which diesel knows no form of its own.

mod identifier;
mod identifiers;
mod instant;

pub use identifier::{IdBytes, StoredId};
pub use identifiers::StoredIds;
pub use instant::Instant;

/// A count or a limit in the form in which SQL has whole numbers. What is beyond them limits nothing.
#[must_use]
pub fn whole_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// How many of something in memory, as a number that a count moves by.
#[must_use]
pub fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
