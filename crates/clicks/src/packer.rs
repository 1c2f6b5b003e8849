//! Makes larger segments of small ones.

use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId};

use crate::MalformedSegment;
use crate::columns::Columns;
use crate::decoded_segment::DecodedSegment;
use crate::numbers::number;
use crate::segment_encoder::{DayOrdinals, Encoder};
use crate::segment_reader::Decoder;

/// The most clicks of a packed segment.
const MAX_PACKED: usize = 65_536;

/// A segment of one account's day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedSegment {
    /// Whose clicks.
    pub account: AccountId,
    /// Of which day.
    pub day: UtcDay,
    /// The first of its links, in the order of their 16 bytes.
    pub first_link: LinkId,
    /// The last of its links, in the order of their 16 bytes.
    pub last_link: LinkId,
    /// How many clicks it has, of all kinds.
    pub clicks: u32,
    /// Whether its visitors' hashes are gone.
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
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { columns: Columns::default(), decoded: DecodedSegment::default(), decoder: Decoder::new() }
    }

    /// Adds the clicks of a segment of any accounts and days. After an error nothing of that segment has been added.
    /// Sealed segments are refused.
    pub fn add(&mut self, data: &[u8]) -> Result<(), MalformedSegment> {
        self.decoded.read(data, &mut self.decoder)?;
        if self.decoded.sealed {
            return Err(MalformedSegment::Sealed);
        }
        self.columns.append(&self.decoded);
        Ok(())
    }

    /// The clicks in new segments of at most 65,536 clicks, by account, day, link and time.
    #[must_use]
    pub fn finish(self) -> Vec<PackedSegment> {
        let order = self.columns.order();
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
    /// What was encoded.
    pub(crate) segments: Vec<PackedSegment>,
}

impl<'a> PackedWriter<'a> {
    /// For these clicks.
    pub(crate) fn new(columns: &'a Columns) -> Self {
        Self { columns, encoder: Encoder::new(), segments: Vec::new() }
    }

    /// Writes a block of ordered rows of one account and day: as one segment, or as several if its values are too long for one.
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
            // One click's values always fit.
            let (one, other) = block.split_at(block.len() / 2);
            self.write(one, ordinals.as_deref_mut());
            self.write(other, ordinals);
        }
    }
}
