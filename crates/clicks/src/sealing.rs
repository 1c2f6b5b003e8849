//! Drops the hashes of visitors.

use crate::{MalformedSegment, PackedSegment};

/// All segments of one account's day, sorted by link and time in blocks of 8,192 clicks. Each visitor's hash is replaced by
/// a number that means nothing but "the same visitor on that day". Some of the segments may be sealed already: a visitor of
/// those cannot be recognised among later clicks, and counts once more.
pub fn seal(_segments: &[impl AsRef<[u8]>]) -> Result<Vec<PackedSegment>, MalformedSegment> {
    todo!()
}
