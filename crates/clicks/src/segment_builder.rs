//! Writes recorded clicks into a segment.

use signpost_domain::Timestamp;
use signpost_domain::analytics::RecordedClick;

/// Collects clicks of any accounts and days, in any order, for one segment.
#[derive(Debug, Default)]
pub struct SegmentBuilder {}

/// A finished segment, and what a store wants to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltSegment {
    /// How many clicks it has, of all kinds.
    pub clicks: u32,
    /// The instant of the first.
    pub first: Timestamp,
    /// The instant of the last.
    pub last: Timestamp,
    /// The segment.
    pub data: Vec<u8>,
}

/// The segment has [`MAX_CLICKS`](crate::MAX_CLICKS) clicks already; the click was not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the segment is full")]
pub struct SegmentFull;

impl SegmentBuilder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a click. Values are cut after [`MAX_VALUE_BYTES`](crate::MAX_VALUE_BYTES).
    pub fn push(&mut self, _click: &RecordedClick<'_>) -> Result<(), SegmentFull> {
        todo!()
    }

    /// How many clicks it has.
    #[must_use]
    pub fn len(&self) -> usize {
        todo!()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        todo!()
    }

    /// The segment; `None` without clicks.
    #[must_use]
    pub fn finish(self) -> Option<BuiltSegment> {
        todo!()
    }
}
