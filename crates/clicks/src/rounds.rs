//! Days that are too large to be in memory as a whole.

/// Whether a day must be passed once more.
///
/// Such a day is passed in rounds. Each round has all its segments in the same order, as many at a time as the caller likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Round {
    /// Pass all its segments again.
    Again,
    /// The day is done.
    Done,
}
