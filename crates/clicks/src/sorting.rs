//! Sorts the clicks of a day that is too large to be in memory as a whole.
//!
//! The day is cut into ranges of links and times. Its segments are split at these cuts, some at a time, and then each range is
//! sorted by itself. Afterwards the segments follow each other as those of a sealed day do.

use signpost_domain::LinkKind;

use crate::columns::{Columns, link_order};
use crate::decoded_segment::DecodedSegment;
use crate::numbers::index;
use crate::packer::{MAX_PACKED, MAX_SORTED, PackedWriter, day_of};
use crate::segment_reader::Decoder;
use crate::value_limits::KeptValues;
use crate::{MalformedSegment, PackedSegment};

/// Every so many clicks of a segment, the place of one is noted.
const NOTED_EVERY: usize = 128;

/// The place of a click in the order of its day: its link, and the millisecond.
type Place = (u128, LinkKind, u32);

/// The places of some clicks of a segment: of the first, of one in 128, and of the last.
#[derive(Debug, Clone, Default)]
pub struct Places(Vec<Place>);

/// Reads the places of clicks of segments. After an error the content is undefined.
#[derive(Debug)]
pub struct PlaceReader {
    content: Box<DecodedSegment>,
    decoder: Decoder,
}

impl Default for PlaceReader {
    fn default() -> Self {
        Self::new()
    }
}

impl PlaceReader {
    /// Starts.
    #[must_use]
    pub fn new() -> Self {
        Self { content: Box::default(), decoder: Decoder::new() }
    }

    /// Reads the places of some clicks of a segment of one account's day.
    pub fn read(&mut self, segment: &[u8]) -> Result<Places, MalformedSegment> {
        self.content.read(segment, &mut self.decoder)?;
        let runs = self.content.runs.iter().flat_map(|run| {
            let (link, kind) = link_order(run.run.link);
            std::iter::repeat_n((link, kind), index(run.clicks))
        });
        let clicks = self.content.times.len();
        let all = runs.zip(&self.content.times).map(|((link, kind), time)| (link, kind, *time));
        let noted = all.enumerate().filter(|(at, _)| at.is_multiple_of(NOTED_EVERY) || at + 1 == clicks);
        Ok(Places(noted.map(|(_, place)| place).collect()))
    }
}

impl Places {
    /// The order of segments, by their first clicks.
    #[must_use]
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        (self.0.first(), self.0.last()).cmp(&(other.0.first(), other.0.last()))
    }

    /// Whether no click of a segment is before the last one of this segment.
    #[must_use]
    pub fn is_before(&self, next: &Self) -> bool {
        self.0.last() <= next.0.first()
    }
}

/// Ranges of links and times that divide a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayRanges {
    /// Where each range begins, except for the first.
    begins: Vec<Place>,
}

impl DayRanges {
    /// Divides a day into ranges of about this many clicks, by the places of clicks of all its segments.
    #[must_use]
    pub fn new<'a>(segments: impl IntoIterator<Item = &'a Places>, clicks: usize) -> Self {
        let mut noted: Vec<Place> = segments.into_iter().flat_map(|places| &places.0).copied().collect();
        noted.sort_unstable();
        let first = noted.first().copied();
        let mut begins: Vec<Place> =
            noted.into_iter().step_by(clicks.div_ceil(NOTED_EVERY).max(1)).skip(1).collect();
        begins.dedup();
        begins.retain(|begin| Some(*begin) != first);
        Self { begins }
    }

    /// The number of ranges, at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.begins.len() + 1
    }

    /// The range of a segment; `None` if its clicks are in several.
    #[must_use]
    pub fn range_of(&self, segment: &Places) -> Option<usize> {
        let [first, last] = [segment.0.first()?, segment.0.last()?].map(|place| self.range_at(place));
        (first == last).then_some(first)
    }

    fn range_at(&self, place: &Place) -> usize {
        self.begins.partition_point(|begin| begin <= place)
    }

    /// Splits unsealed segments of the day so that each new one is within one range.
    pub fn split(&self, segments: &[impl AsRef<[u8]>]) -> Result<Vec<PackedSegment>, MalformedSegment> {
        let columns = unsealed(segments)?;
        let order = columns.order();
        let range_at = |row: u32| {
            let (link, kind) = columns.run_of(row).map(|run| link_order(run.link))?;
            let time = columns.time.get(index(row)).copied()?;
            Some(self.range_at(&(link, kind, time)))
        };
        let mut writer = PackedWriter::new(&columns);
        for range in order.chunk_by(|one, next| range_at(*one) == range_at(*next)) {
            for block in range.chunks(MAX_PACKED) {
                writer.write(block, None);
            }
        }
        Ok(writer.segments)
    }
}

/// Sorts the ranges of a day, one after another.
#[derive(Debug, Default)]
pub struct RangeSorter {
    kept: KeptValues,
}

impl RangeSorter {
    /// Starts before the first range.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sorts all segments of the next range by link and time in blocks of 8,192 clicks, and bounds the values of each link and
    /// dimension on the day (D47). Visitors keep their hashes, because numbers of the day need all its clicks at once.
    pub fn sort(&mut self, segments: &[impl AsRef<[u8]>]) -> Result<Vec<PackedSegment>, MalformedSegment> {
        let mut columns = unsealed(segments)?;
        let order = columns.order();
        self.kept.limit_range(&mut columns, &order);
        let mut writer = PackedWriter::new(&columns);
        for block in order.chunks(MAX_SORTED) {
            writer.write(block, None);
        }
        Ok(writer.segments)
    }
}

/// The clicks of unsealed segments: an ordinal of a visitor would be taken for a hash.
fn unsealed(segments: &[impl AsRef<[u8]>]) -> Result<Columns, MalformedSegment> {
    let columns = day_of(segments)?;
    if columns.has_ordinals() { Err(MalformedSegment::Sealed) } else { Ok(columns) }
}
