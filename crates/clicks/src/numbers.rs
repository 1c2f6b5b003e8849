//! Conversions between the widths of numbers, none of which can lose anything here.

/// A number as a place in memory.
pub(crate) fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A count of things in memory. A segment and a day have far fewer than four billion of anything.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A count of things in memory, for sums over years.
pub(crate) fn sum(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
