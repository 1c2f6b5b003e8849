//! Sums of an account's day, which answer questions without reading its clicks.

use signpost_domain::analytics::{Dimension, UtcDay};
use signpost_domain::{LinkId, LinkKind};

use crate::MalformedSegment;
use crate::columns::Columns;
use crate::distinct::DistinctPairs;
use crate::numbers::{index, put, put_count};
use crate::packer::day_of;
use crate::segment_encoder::compress;
use crate::segment_format::{DAY_MILLIS, DIMENSIONS, set_checksum};
use crate::tables::Renumbering;
use crate::tally::ValueSums;
use crate::value_limits::limit_values;

/// The version that this program writes, and the only one that it reads. No segment begins with it.
pub(crate) const DIGEST_VERSION: u8 = 0x81;

/// The flag of digests whose frames are compressed as one.
pub(crate) const DIGEST_ONE_FRAME: u8 = 2;

/// Smaller digests are compressed as one frame.
pub(crate) const DIGEST_ONE_FRAME_BELOW: usize = 4_096;

/// Quarter hours of a day.
pub(crate) const QUARTERS: usize = 96;

/// The instants of a day, by quarter hours, at which an hour begins that ends on the same day.
pub(crate) const HOURS: usize = QUARTERS - 3;

/// Milliseconds of a quarter hour.
pub(crate) const QUARTER_MILLIS: u32 = DAY_MILLIS / 96;

/// A dimension with more values on a day has no sums in its digest.
const MAX_VALUES_OF_DIGEST: usize = 4_096;

/// A link gets its own digest on days with at least this many clicks of all kinds.
pub const MIN_CLICKS_OF_LINK_DIGEST: u32 = 1_000;

/// The scope of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestScope {
    /// All clicks of an account's day.
    Account,
    /// The day's clicks of one link.
    Link(LinkId),
}

/// The sums of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The scope.
    pub scope: DigestScope,
    /// The sums.
    pub data: Vec<u8>,
}

/// Builds the digests of an account's day from all its segments: the account's first, then those of links
/// with at least [`MIN_CLICKS_OF_LINK_DIGEST`] clicks. Without clicks there is no digest.
///
/// A digest omits dimensions with more than 4,096 values. Questions about them need the segments. A link has fewer,
/// because the digests have the values that [`seal`](crate::seal) keeps of the same segments (D47).
pub fn digests(segments: &[impl AsRef<[u8]>]) -> Result<Vec<Digest>, MalformedSegment> {
    let mut columns = day_of(segments)?;
    let order = columns.order();
    limit_values(&mut columns, &order);
    let Some(day) = order.first().and_then(|row| columns.run_of(*row)).map(|run| run.day) else {
        return Ok(Vec::new());
    };
    let mut summer = Summer::default();
    let mut found = vec![summer.sum_up(&columns, &order, DigestScope::Account, day)];
    for rows in order.chunk_by(|one, next| columns.run.get(index(*one)) == columns.run.get(index(*next))) {
        let run = rows.first().and_then(|row| columns.run_of(*row));
        if rows.len() >= index(MIN_CLICKS_OF_LINK_DIGEST)
            && let Some(run) = run
        {
            found.push(summer.sum_up(&columns, rows, DigestScope::Link(run.link), day));
        }
    }
    Ok(found)
}

impl DigestScope {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Account => out.push(0),
            Self::Link(link) => {
                out.push(match link.kind() {
                    LinkKind::Landing => 1,
                    LinkKind::Redirect => 2,
                });
                out.extend_from_slice(&link.to_bytes());
            }
        }
    }

    /// The scope as digests encode it.
    pub(crate) fn bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(17);
        self.write(&mut bytes);
        bytes
    }
}

/// Sums up rows, and reuses its memory.
#[derive(Default)]
struct Summer {
    visitors: Renumbering,
    values: Renumbering,
    pairs: DistinctPairs,
    sums: Vec<(u32, ValueSums)>,
}

impl Summer {
    fn sum_up(&mut self, columns: &Columns, rows: &[u32], scope: DigestScope, day: UtcDay) -> Digest {
        let mut frames = vec![self.quarters(columns, rows)];
        for (dimension, place) in Dimension::RECORDED.into_iter().zip(0..DIMENSIONS) {
            frames.push(self.values(columns, rows, dimension, place));
        }
        Digest { scope, data: write(scope, day, &frames) }
    }

    /// Visits and visitors by quarter hours.
    fn quarters(&mut self, columns: &Columns, rows: &[u32]) -> Vec<u8> {
        let mut visits = [[0_u64; QUARTERS]; 3];
        let mut clicked: Vec<u128> = Vec::new();
        self.visitors.begin(columns.visitors.len());
        for row in rows.iter().map(|row| index(*row)) {
            let quarter = columns.time.get(row).map_or(0, |time| time / QUARTER_MILLIS);
            let kind = columns.kind.get(row).copied().unwrap_or(0);
            if let Some(visits) = visits.get_mut(usize::from(kind)).and_then(|of| of.get_mut(index(quarter)))
            {
                *visits += 1;
            }
            if kind == 0 {
                let visitor = columns.visitor.get(row).copied().unwrap_or(0);
                let (visitor, new) = self.visitors.number(visitor);
                if new {
                    clicked.push(0);
                }
                if let Some(clicked) = clicked.get_mut(index(visitor)) {
                    *clicked |= 1 << quarter;
                }
            }
        }
        let (mut come, mut gone, mut hours) = ([0_u64; QUARTERS], [0_u64; QUARTERS], [0_u64; HOURS]);
        let count = |counts: &mut [u64], quarter: u32| {
            if let Some(count) = counts.get_mut(index(quarter)) {
                *count += 1;
            }
        };
        for clicked in clicked {
            count(&mut come, clicked.trailing_zeros());
            count(&mut gone, clicked.checked_ilog2().unwrap_or(0));
            let mut hours_left = clicked | clicked >> 1 | clicked >> 2 | clicked >> 3;
            while hours_left != 0 {
                count(&mut hours, hours_left.trailing_zeros());
                hours_left &= hours_left - 1;
            }
        }
        let mut frame = Vec::new();
        for number in visits.iter().flatten().chain(&come).chain(&gone).chain(&hours) {
            put(&mut frame, *number);
        }
        frame
    }

    /// The values of a dimension in order. Empty if there are too many.
    fn values(&mut self, columns: &Columns, rows: &[u32], dimension: Dimension, at: usize) -> Vec<u8> {
        let (Some(table), Some(column)) = (columns.values.get(at), columns.value.get(at)) else {
            return Vec::new();
        };
        let counted = u8::from(dimension == Dimension::Widget) * 3;
        self.visitors.begin(columns.visitors.len());
        self.values.begin(table.len());
        self.pairs.reset(0);
        self.sums.clear();
        for row in rows.iter().map(|row| index(*row)) {
            if columns.kind.get(row) != Some(&counted) {
                continue;
            }
            let value = column.get(row).copied().unwrap_or(0);
            let (visitor, _) = self.visitors.number(columns.visitor.get(row).copied().unwrap_or(0));
            let (number, new) = self.values.number(value);
            if new {
                if self.sums.len() == MAX_VALUES_OF_DIGEST {
                    return Vec::new();
                }
                self.sums.push((value, ValueSums::default()));
            }
            if let Some((_, sums)) = self.sums.get_mut(index(number)) {
                sums.clicks += 1;
                sums.visitors += u64::from(self.pairs.add(visitor, number));
            }
        }
        self.sums.sort_unstable_by_key(|(value, _)| table.value(*value));
        let mut frame = Vec::new();
        put_count(&mut frame, self.sums.len());
        for (value, sums) in &self.sums {
            let value = table.value(*value);
            put_count(&mut frame, value.len());
            frame.extend_from_slice(value.as_bytes());
            put(&mut frame, sums.clicks);
            put(&mut frame, sums.clicks - sums.visitors);
        }
        frame
    }
}

fn write(scope: DigestScope, day: UtcDay, frames: &[Vec<u8>]) -> Vec<u8> {
    let total: usize = frames.iter().map(Vec::len).sum();
    let all = if total < DIGEST_ONE_FRAME_BELOW { compress(&frames.concat()) } else { None };
    let flags = if all.is_some() { DIGEST_ONE_FRAME } else { 0 };
    let mut data = vec![DIGEST_VERSION, flags, 0, 0, 0, 0];
    scope.write(&mut data);
    put(&mut data, u64::try_from(day.number()).unwrap_or(0));
    if let Some(all) = all {
        for frame in frames {
            put_count(&mut data, frame.len());
        }
        data.extend_from_slice(&all);
    } else {
        let mut body = Vec::new();
        for frame in frames {
            let compressed = compress(frame);
            let stored =
                compressed.as_ref().filter(|compressed| compressed.len() < frame.len()).unwrap_or(frame);
            put_count(&mut data, frame.len());
            put_count(&mut data, frame.len() - stored.len());
            body.extend_from_slice(stored);
        }
        data.extend_from_slice(&body);
    }
    set_checksum(&mut data);
    data
}
