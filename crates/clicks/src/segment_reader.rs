//! Reads segments.

use signpost_domain::analytics::RecordedClick;

use crate::MalformedSegment;

/// Calls `each` with every row of a segment, in the order of account, link and time. The visitor of a sealed segment is its
/// ordinal on that day.
pub fn read(_data: &[u8], _each: impl FnMut(RecordedClick<'_>)) -> Result<(), MalformedSegment> {
    todo!()
}
