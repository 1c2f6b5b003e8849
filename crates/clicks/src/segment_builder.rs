//! Writes recorded clicks into a segment.

use signpost_domain::Timestamp;
use signpost_domain::analytics::RecordedClick;

use crate::MAX_CLICKS;
use crate::columns::{Columns, cut};
use crate::numbers::number;
use crate::segment_encoder::Encoder;
use crate::segment_format::MAX_DICTIONARY_BYTES;

/// Collects clicks of any accounts and days, in any order, for one segment.
#[derive(Debug, Default)]
pub struct SegmentBuilder {
    columns: Columns,
    /// A lower bound of the dictionaries' size, as if all values were distinct.
    value_bytes: usize,
}

/// A finished segment, and what a store needs to know about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltSegment {
    /// The number of clicks of all kinds.
    pub clicks: u32,
    /// The instant of the first click.
    pub first: Timestamp,
    /// The instant of the last click.
    pub last: Timestamp,
    /// The segment.
    pub data: Vec<u8>,
}

/// The segment has [`MAX_CLICKS`] clicks, or 16 MiB of values. The click was not added; it belongs in the
/// next segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the segment is full")]
pub struct SegmentFull;

impl SegmentBuilder {
    /// Starts without clicks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a click. Values are truncated after [`MAX_VALUE_BYTES`](crate::MAX_VALUE_BYTES).
    pub fn push(&mut self, click: &RecordedClick<'_>) -> Result<(), SegmentFull> {
        self.push_alike(click, None)
    }

    /// Adds a click likewise. Clicks with the same `alike` number must have the same values, except for
    /// country, widget and rule; the segment then looks their values up once.
    pub fn push_alike(&mut self, click: &RecordedClick<'_>, alike: Option<u64>) -> Result<(), SegmentFull> {
        // Each length takes at most two bytes.
        let bytes: usize = click.values.0.iter().map(|value| cut(value).len() + 2).sum();
        if self.len() == MAX_CLICKS || self.value_bytes + bytes > MAX_DICTIONARY_BYTES {
            return Err(SegmentFull);
        }
        self.value_bytes += bytes;
        self.columns.push_alike(click, alike);
        Ok(())
    }

    /// The number of clicks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether it has no clicks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Builds the segment; `None` without clicks.
    #[must_use]
    pub fn finish(self) -> Option<BuiltSegment> {
        let rows = self.columns.order();
        let instants = rows.iter().map(|row| self.columns.instant_of(*row));
        let (first, last) = (instants.clone().min()?, instants.max()?);
        Some(BuiltSegment {
            clicks: number(rows.len()),
            first: Timestamp::from_unix_millis(first)?,
            last: Timestamp::from_unix_millis(last)?,
            data: Encoder::new().encode(&self.columns, &rows, None)?,
        })
    }
}
