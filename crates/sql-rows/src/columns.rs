//! Conversions for column types that diesel does not support.

mod identifier;
mod identifiers;
mod instant;

pub use identifier::{IdBytes, StoredId, named_among};
pub use identifiers::StoredIds;
pub use instant::Instant;

/// A count or a limit as an SQL `bigint`. Larger values become the maximum, which is no limit in practice.
#[must_use]
pub fn whole_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of items in memory, as the change of a count.
#[must_use]
pub fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
