//! Merges small segments into larger ones, and seals days.

use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId};

use crate::MalformedSegment;
use crate::columns::Columns;
use crate::decoded_segment::DecodedSegment;
use crate::numbers::number;
use crate::segment_encoder::{DayOrdinals, Encoder};
use crate::segment_reader::Decoder;
use crate::value_limits::limit_values;

/// Maximum number of clicks in a packed segment.
pub(crate) const MAX_PACKED: usize = 65_536;

/// A segment of one account's day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedSegment {
    /// The account.
    pub account: AccountId,
    /// The day.
    pub day: UtcDay,
    /// The first of its links, in the order of their 16 bytes.
    pub first_link: LinkId,
    /// The last of its links, in the order of their 16 bytes.
    pub last_link: LinkId,
    /// The number of clicks of all kinds.
    pub clicks: u32,
    /// Whether its visitors' hashes are destroyed.
    pub sealed: bool,
    /// The segment.
    pub data: Vec<u8>,
}

/// Merges unsealed segments, and splits them by account and day.
#[derive(Debug)]
pub struct Packer {
    columns: Columns,
    decoded: DecodedSegment,
    decoder: Decoder,
}

impl Default for Packer {
    fn default() -> Self {
        Self::new()
    }
}

impl Packer {
    /// Starts without clicks.
    #[must_use]
    pub fn new() -> Self {
        Self { columns: Columns::default(), decoded: DecodedSegment::default(), decoder: Decoder::new() }
    }

    /// Adds the clicks of a segment of any accounts and days. After an error, no click of that segment is
    /// added. Sealed segments are refused.
    pub fn add(&mut self, data: &[u8]) -> Result<(), MalformedSegment> {
        self.decoded.read(data, &mut self.decoder)?;
        if self.decoded.sealed {
            return Err(MalformedSegment::Sealed);
        }
        self.columns.append(&self.decoded);
        Ok(())
    }

    /// Returns new segments of at most 65,536 clicks, ordered by account, day, link and time. It bounds the
    /// values of each link and dimension in these clicks (D47).
    #[must_use]
    pub fn finish(mut self) -> Vec<PackedSegment> {
        let order = self.columns.order();
        limit_values(&mut self.columns, &order);
        let mut writer = PackedWriter::new(&self.columns);
        for day in self.columns.days(&order) {
            for block in day.chunks(MAX_PACKED) {
                writer.write(block, None);
            }
        }
        writer.segments
    }
}

/// Encodes blocks of clicks of one account and day.
pub(crate) struct PackedWriter<'a> {
    columns: &'a Columns,
    encoder: Encoder,
    /// The encoded segments.
    pub(crate) segments: Vec<PackedSegment>,
}

impl<'a> PackedWriter<'a> {
    /// Encodes these clicks.
    pub(crate) fn new(columns: &'a Columns) -> Self {
        Self { columns, encoder: Encoder::new(), segments: Vec::new() }
    }

    /// Writes a block of ordered rows of one account and day: one segment, or several if its values are too
    /// long for one.
    pub(crate) fn write(&mut self, block: &[u32], mut ordinals: Option<&mut DayOrdinals>) {
        let sealed = ordinals.is_some();
        let run_of = |row: Option<&u32>| row.and_then(|row| self.columns.run_of(*row));
        let (Some(first), Some(last)) = (run_of(block.first()), run_of(block.last())) else { return };
        if let Some(data) = self.encoder.encode(self.columns, block, ordinals.as_deref_mut()) {
            self.segments.push(PackedSegment {
                account: first.account,
                day: first.day,
                first_link: first.link,
                last_link: last.link,
                clicks: number(block.len()),
                sealed,
                data,
            });
        } else if block.len() > 1 {
            // The values of one click always fit.
            let (one, other) = block.split_at(block.len() / 2);
            self.write(one, ordinals.as_deref_mut());
            self.write(other, ordinals);
        }
    }
}

/// Maximum number of clicks in a segment of a day that was sealed or sorted. Small segments make questions about few links cheap.
pub const MAX_SORTED: usize = 8_192;

/// Seals all segments of an account's day. It sorts them by link and time in blocks of 8,192 clicks, and
/// replaces each visitor's hash with a number. The number says only "the same visitor on that day". Some
/// segments may be sealed already: their visitors cannot be recognized among later clicks, and count again.
/// It bounds the values of each link and dimension on the day (D47).
///
/// Pass the whole day: segments of a day that were sealed separately use the same numbers for different
/// visitors.
pub fn seal(segments: &[impl AsRef<[u8]>]) -> Result<Vec<PackedSegment>, MalformedSegment> {
    let mut columns = day_of(segments)?;
    let order = columns.order();
    limit_values(&mut columns, &order);
    let mut ordinals = DayOrdinals::new(columns.visitors.len());
    let mut writer = PackedWriter::new(&columns);
    for block in order.chunks(MAX_SORTED) {
        writer.write(block, Some(&mut ordinals));
    }
    Ok(writer.segments)
}

/// The clicks of one account's day.
pub(crate) fn day_of(segments: &[impl AsRef<[u8]>]) -> Result<Columns, MalformedSegment> {
    let (mut content, mut decoder) = (DecodedSegment::default(), Decoder::new());
    let mut columns = Columns::default();
    for segment in segments {
        content.read(segment.as_ref(), &mut decoder)?;
        columns.append(&content);
    }
    if columns.has_several_days() { Err(MalformedSegment::SeveralDays) } else { Ok(columns) }
}
