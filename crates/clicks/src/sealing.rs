//! Drops the hashes of visitors.

use crate::columns::Columns;
use crate::decoded_segment::DecodedSegment;
use crate::packer::PackedWriter;
use crate::segment_encoder::DayOrdinals;
use crate::segment_reader::Decoder;
use crate::{MalformedSegment, PackedSegment};

/// The most clicks of a sealed segment. Small ones make questions about few links cheap.
const MAX_SEALED: usize = 8_192;

/// All segments of one account's day, sorted by link and time in blocks of 8,192 clicks. Each visitor's hash is replaced by
/// a number that means nothing but "the same visitor on that day". Some of the segments may be sealed already: a visitor of
/// those cannot be recognised among later clicks, and counts once more.
///
/// The day must come whole: two days' worth of sealed segments that were sealed apart have the same numbers for different
/// visitors.
pub fn seal(segments: &[impl AsRef<[u8]>]) -> Result<Vec<PackedSegment>, MalformedSegment> {
    let columns = day_of(segments)?;
    let order = columns.order();
    let mut ordinals = DayOrdinals::new(columns.visitors.len());
    let mut writer = PackedWriter::new(&columns);
    for block in order.chunks(MAX_SEALED) {
        writer.write(block, Some(&mut ordinals));
    }
    Ok(writer.segments)
}

/// The clicks of one account's day.
pub(crate) fn day_of(segments: &[impl AsRef<[u8]>]) -> Result<Columns, MalformedSegment> {
    let mut columns = Columns::default();
    let (mut content, mut decoder) = (DecodedSegment::default(), Decoder::new());
    for segment in segments {
        content.read(segment.as_ref(), &mut decoder)?;
        columns.append(&content);
    }
    if columns.has_several_days() { Err(MalformedSegment::SeveralDays) } else { Ok(columns) }
}
