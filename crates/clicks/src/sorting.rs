//! Sorts the clicks of a day that is too large to be in memory as a whole.
//!
//! The day is cut into ranges of links and times. Its segments are split at these cuts, some at a time, and then each range is
//! sorted by itself. Afterwards the segments follow each other as those of a sealed day do.

use signpost_domain::LinkKind;

use crate::columns::{Columns, has_several_days, link_order};
use crate::decoded_segment::DecodedSegment;
use crate::numbers::{index, sum};
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
pub struct Places {
    places: Vec<Place>,
    clicks: usize,
}

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
        // All columns, so that a malformed segment is found before any part of the day is replaced.
        self.content.read(segment, &mut self.decoder)?;
        if has_several_days(self.content.runs.iter().map(|run| &run.run)) {
            return Err(MalformedSegment::SeveralDays);
        }
        let runs = self.content.runs.iter().flat_map(|run| {
            let (link, kind) = link_order(run.run.link);
            std::iter::repeat_n((link, kind), index(run.clicks))
        });
        let clicks = self.content.times.len();
        let all = runs.zip(&self.content.times).map(|((link, kind), time)| (link, kind, *time));
        let noted = all.enumerate().filter(|(at, _)| at.is_multiple_of(NOTED_EVERY) || at + 1 == clicks);
        Ok(Places { places: noted.map(|(_, place)| place).collect(), clicks })
    }
}

impl Places {
    /// The order of segments, by their first clicks.
    #[must_use]
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        (self.first(), self.last()).cmp(&(other.first(), other.last()))
    }

    /// Whether no click of a segment is before the last one of this segment.
    #[must_use]
    pub fn is_before(&self, next: &Self) -> bool {
        self.last() <= next.first()
    }

    fn first(&self) -> Option<&Place> {
        self.places.first()
    }

    fn last(&self) -> Option<&Place> {
        self.places.last()
    }
}

/// Ranges of links and times that divide a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayRanges {
    /// Where each range begins, except for the first.
    begins: Vec<Place>,
}

impl DayRanges {
    /// Divides a day into ranges of about this many clicks, or fewer if they have more bytes. `segments` has the places of clicks
    /// of all its segments, and the size of each.
    #[must_use]
    pub fn new<'a>(segments: impl IntoIterator<Item = (&'a Places, u64)>, clicks: u64, bytes: u64) -> Self {
        let mut noted: Vec<(Place, u64, u64)> = Vec::new();
        for (segment, size) in segments {
            // Each noted click stands for an equal part of its segment.
            let count = sum(segment.places.len()).max(1);
            let (of_clicks, of_bytes) = (sum(segment.clicks).div_ceil(count), size.div_ceil(count));
            noted.extend(segment.places.iter().map(|place| (*place, of_clicks, of_bytes)));
        }
        noted.sort_unstable();
        let mut begins: Vec<Place> = Vec::new();
        let (mut clicks_left, mut bytes_left) = (clicks, bytes);
        let mut before = noted.first().map(|(place, _, _)| *place);
        for (place, of_clicks, of_bytes) in noted {
            let is_full = clicks_left < of_clicks || bytes_left < of_bytes;
            if is_full && before.is_some_and(|before| before < place) {
                begins.push(place);
                (clicks_left, bytes_left) = (clicks, bytes);
            }
            before = Some(place);
            clicks_left = clicks_left.saturating_sub(of_clicks);
            bytes_left = bytes_left.saturating_sub(of_bytes);
        }
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
        let [first, last] = [segment.first()?, segment.last()?].map(|place| self.range_at(place));
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
