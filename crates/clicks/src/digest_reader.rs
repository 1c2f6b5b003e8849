//! Answers questions from digests.

use signpost_domain::analytics::{Dimension, Report, UtcDay};

use crate::day_counter::add_rows;
use crate::day_cuts::{DayCuts, Piece};
use crate::digest::{DIGEST_VERSION, HOURS, QUARTER_MILLIS, QUARTERS};
use crate::numbers::place;
use crate::segment_format::{DIMENSIONS, checked};
use crate::segment_reader::Decoder;
use crate::tally::{Tally, ValueSums};
use crate::varint::Input;
use crate::{DigestScope, MalformedSegment};

/// The most bytes of a frame: 4,096 values of 512 bytes, with their lengths and numbers.
const MAX_FRAME: usize = 3 + 4_096 * (2 + 512 + 20);

/// The quarter hours of a piece of a day, the last one excluded.
fn quarters(piece: &Piece) -> Option<(usize, usize)> {
    let end = piece.last + 1;
    let aligned = piece.first.is_multiple_of(QUARTER_MILLIS) && end.is_multiple_of(QUARTER_MILLIS);
    aligned.then(|| (place(piece.first / QUARTER_MILLIS), place(end / QUARTER_MILLIS)))
}

/// Whether digests can answer for a day that is cut so. They know the visitors of each part that begins or ends with the day,
/// and of each hour, if the cuts are at quarter hours.
pub(crate) fn can_answer(cuts: &DayCuts) -> bool {
    cuts.is_whole_day()
        && cuts.pieces().iter().all(|piece| {
            quarters(piece).is_some_and(|(begin, end)| begin == 0 || end == QUARTERS || end - begin == 4)
        })
}

/// Reads digests, and keeps its memory.
#[derive(Debug)]
pub(crate) struct DigestReader {
    decoder: Decoder,
    room: Vec<u8>,
}

/// Visits and visitors by quarter hours.
struct Quarters {
    clicks: [u64; QUARTERS],
    bots: [u64; QUARTERS],
    blocked: [u64; QUARTERS],
    /// Visitors whose first click of the day is in the quarter.
    come: [u64; QUARTERS],
    /// Visitors whose last click is in the quarter.
    gone: [u64; QUARTERS],
    /// Visitors of the hour that begins with the quarter.
    hours: [u64; HOURS],
}

impl DigestReader {
    /// A reader.
    pub(crate) fn new() -> Self {
        Self { decoder: Decoder::new(), room: Vec::new() }
    }

    /// Adds a day. `false` if the digest has no sums of a dimension that is asked for; then nothing was added.
    pub(crate) fn add(
        &mut self,
        data: &[u8],
        (scope, day): (DigestScope, UtcDay),
        cuts: &DayCuts,
        dimensions: &[Dimension],
        report: &mut Report,
        tallies: &mut [Tally],
    ) -> Result<bool, MalformedSegment> {
        let (first, of_values) = frames(data, scope, day)?;
        let wanted: Vec<Option<Frame<'_>>> = dimensions
            .iter()
            .map(|dimension| {
                of_values.get(dimension.recorded_place()?).copied().filter(|frame| frame.raw > 0)
            })
            .collect();
        if wanted.iter().any(Option::is_none) {
            return Ok(false);
        }
        let wrong = MalformedSegment::Value("a sum of a digest");
        let quarters = Quarters::read(self.content(first)?).ok_or(wrong)?;
        // Checks all before anything is added.
        for frame in wanted.iter().flatten() {
            each_value(self.content(*frame)?, |_, _| {}).ok_or(wrong)?;
        }
        quarters.add(cuts, report);
        for (frame, tally) in wanted.iter().flatten().zip(tallies) {
            each_value(self.content(*frame)?, |value, sums| tally.add_value(value, sums)).ok_or(wrong)?;
        }
        Ok(true)
    }

    fn content<'b>(&'b mut self, frame: Frame<'b>) -> Result<&'b [u8], MalformedSegment> {
        if frame.raw == frame.stored.len() {
            return Ok(frame.stored);
        }
        let read = self.decoder.decompress(frame.stored, frame.raw, &mut self.room);
        read.map(|()| self.room.as_slice()).ok_or(MalformedSegment::Compression("a digest's frame"))
    }
}

#[derive(Debug, Clone, Copy)]
struct Frame<'a> {
    raw: usize,
    stored: &'a [u8],
}

/// The frames of a digest of this scope and day: the quarter hours, and each dimension.
fn frames(
    data: &[u8],
    scope: DigestScope,
    day: UtcDay,
) -> Result<(Frame<'_>, [Frame<'_>; DIMENSIONS]), MalformedSegment> {
    let (flags, rest) = checked(data, DIGEST_VERSION)?;
    let mut input = Input(rest);
    let scope = scope.bytes();
    let same_scope = input.take(scope.len()) == Some(scope.as_slice());
    let number = input.number().and_then(|number| i32::try_from(number).ok());
    if flags != 0 || !same_scope || number != Some(day.number()) {
        return Err(MalformedSegment::Value("scope or day of a digest"));
    }
    let read = |mut input: Input<'_>| {
        let mut lengths = [(0_usize, 0_usize); DIMENSIONS + 1];
        for lengths in &mut lengths {
            let raw = input.length().filter(|raw| *raw <= MAX_FRAME)?;
            *lengths = (raw, raw.checked_sub(input.length()?)?);
        }
        Some((lengths, input.0.len()))
    };
    let wrong = MalformedSegment::Length("a digest");
    let (lengths, body) = read(input).ok_or(wrong)?;
    let mut body = Input(rest.split_at_checked(rest.len() - body).ok_or(wrong)?.1);
    let [first, of_values @ ..] = lengths;
    let mut frame = |(raw, stored): (usize, usize)| body.take(stored).map(|stored| Frame { raw, stored });
    let first = frame(first).ok_or(wrong)?;
    let mut found = [Frame { raw: 0, stored: &[] }; DIMENSIONS];
    for (room, lengths) in found.iter_mut().zip(of_values) {
        *room = frame(lengths).ok_or(wrong)?;
    }
    body.is_empty().then_some((first, found)).ok_or(wrong)
}

impl Quarters {
    fn read(frame: &[u8]) -> Option<Self> {
        let mut input = Input(frame);
        let mut read = || -> Option<[u64; QUARTERS]> {
            let mut numbers = [0; QUARTERS];
            for number in &mut numbers {
                *number = u64::from(input.small_number()?);
            }
            Some(numbers)
        };
        let (clicks, bots, blocked, come, gone) = (read()?, read()?, read()?, read()?, read()?);
        let mut hours = [0; HOURS];
        for number in &mut hours {
            *number = u64::from(input.small_number()?);
        }
        input.is_empty().then_some(Self { clicks, bots, blocked, come, gone, hours })
    }

    /// Adds them to the buckets and the totals.
    fn add(&self, cuts: &DayCuts, report: &mut Report) {
        let total = |numbers: &[u64; QUARTERS], begin: usize, end: usize| -> u64 {
            numbers.get(begin..end).unwrap_or_default().iter().sum()
        };
        for piece in cuts.pieces() {
            let Some((begin, end)) = quarters(piece) else { continue };
            let visitors = if begin == 0 {
                total(&self.come, 0, end)
            } else if end == QUARTERS {
                total(&self.gone, begin, QUARTERS)
            } else {
                self.hours.get(begin).copied().unwrap_or(0)
            };
            let (clicks, bots, blocked) = (
                total(&self.clicks, begin, end),
                total(&self.bots, begin, end),
                total(&self.blocked, begin, end),
            );
            add_rows(&mut report.totals, clicks, bots, blocked);
            if let Some(bucket) = report.series.get_mut(piece.bucket) {
                add_rows(bucket, clicks, bots, blocked);
                bucket.visitors += visitors;
            }
        }
        report.totals.visitors += total(&self.come, 0, QUARTERS);
    }
}

/// Calls `each` with the values of a frame. `None` if they are malformed.
fn each_value(frame: &[u8], mut each: impl FnMut(&str, ValueSums)) -> Option<()> {
    let mut input = Input(frame);
    for _ in 0..input.number()? {
        let length = input.length()?;
        let value = std::str::from_utf8(input.take(length)?).ok()?;
        let clicks = u64::from(input.small_number()?);
        let visitors = clicks.checked_sub(u64::from(input.small_number()?))?;
        each(value, ValueSums { clicks, visitors });
    }
    input.is_empty().then_some(())
}
