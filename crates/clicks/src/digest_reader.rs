//! Answers questions from digests.

use signpost_domain::analytics::{Dimension, Report, UtcDay};

use crate::day_counter::add_rows;
use crate::day_cuts::{DayCuts, Piece};
use crate::digest::{
    DIGEST_ONE_FRAME, DIGEST_ONE_FRAME_BELOW, DIGEST_VERSION, HOURS, QUARTER_MILLIS, QUARTERS,
};
use crate::numbers::{Input, index};
use crate::segment_format::{DIMENSIONS, checked};
use crate::segment_reader::Decoder;
use crate::tally::{Tally, ValueSums};
use crate::{DigestScope, MalformedSegment};

/// Maximum size of a frame: 4,096 values of 512 bytes, with their lengths and numbers.
const MAX_FRAME: usize = 3 + 4_096 * (2 + 512 + 20);

/// The quarter hours of a piece of a day; the end is exclusive.
fn quarters(piece: &Piece) -> Option<(usize, usize)> {
    let end = piece.last + 1;
    let aligned = piece.first.is_multiple_of(QUARTER_MILLIS) && end.is_multiple_of(QUARTER_MILLIS);
    aligned.then(|| (index(piece.first / QUARTER_MILLIS), index(end / QUARTER_MILLIS)))
}

/// Whether digests can answer for a day with these pieces. Digests know the visitors of each part that begins
/// or ends with the day, and of each hour, if the cuts are at quarter hours.
pub(crate) fn can_answer(cuts: &DayCuts) -> bool {
    cuts.is_whole_day()
        && cuts.pieces().iter().all(|piece| {
            quarters(piece).is_some_and(|(begin, end)| begin == 0 || end == QUARTERS || end - begin == 4)
        })
}

/// Reads digests, and reuses its memory.
#[derive(Debug)]
pub(crate) struct DigestReader {
    decoder: Decoder,
    all: Vec<u8>,
    room: Vec<u8>,
}

/// Visits and visitors by quarter hours.
struct Quarters {
    clicks: [u64; QUARTERS],
    bots: [u64; QUARTERS],
    blocked: [u64; QUARTERS],
    /// Visitors whose first click of the day is in the quarter.
    arrivals: [u64; QUARTERS],
    /// Visitors whose last click is in the quarter.
    departures: [u64; QUARTERS],
    /// Visitors of the hour that begins with the quarter.
    hours: [u64; HOURS],
}

impl DigestReader {
    pub(crate) fn new() -> Self {
        Self { decoder: Decoder::new(), all: Vec::new(), room: Vec::new() }
    }

    /// Adds a day. Returns `false` if the digest lacks sums of a requested dimension; then nothing is added. A node that knew no
    /// rules wrote digests whose sums by rule lack clicks.
    pub(crate) fn add(
        &mut self,
        data: &[u8],
        (scope, day): (DigestScope, UtcDay),
        cuts: &DayCuts,
        dimensions: &[Dimension],
        report: &mut Report,
        tallies: &mut [Tally],
    ) -> Result<bool, MalformedSegment> {
        let Self { decoder, all, room } = self;
        let frames = Frames::read(data, scope, day, decoder, all)?;
        let places = || dimensions.iter().map(|dimension| place_of(*dimension, scope));
        if places().any(|place| place.and_then(|place| frames.of_values(place)).is_none()) {
            return Ok(false);
        }
        let wrong = MalformedSegment::Value("a sum of a digest");
        let quarters = Quarters::read(content(frames.first(), decoder, room)?).ok_or(wrong)?;
        if dimensions.contains(&Dimension::Rule) {
            let frame = place_of(Dimension::Rule, scope).and_then(|place| frames.of_values(place));
            let mut clicks = 0_u64;
            each_value(content(frame, decoder, room)?, |_, sums| clicks += sums.clicks).ok_or(wrong)?;
            if clicks != quarters.clicks.iter().sum::<u64>() {
                return Ok(false);
            }
        }
        quarters.add(cuts, report);
        for (frame, tally) in places().map(|place| frames.of_values(place?)).zip(tallies) {
            let values = content(frame, decoder, room)?;
            each_value(values, |value, sums| tally.add_value(value, sums)).ok_or(wrong)?;
        }
        Ok(true)
    }
}

/// The place of a dimension among the frames of digests of a scope; `None` if these have no sums of it.
fn place_of(dimension: Dimension, scope: DigestScope) -> Option<usize> {
    let is_there =
        !matches!(dimension, Dimension::Widget | Dimension::Rule) || dimension == scope.last_dimension();
    dimension.recorded_place().filter(|_| is_there)
}

#[derive(Debug, Clone, Copy, Default)]
struct Frame<'a> {
    raw: usize,
    stored: &'a [u8],
}

fn content<'b>(
    frame: Option<Frame<'b>>,
    decoder: &mut Decoder,
    room: &'b mut Vec<u8>,
) -> Result<&'b [u8], MalformedSegment> {
    let Frame { raw, stored } = frame.unwrap_or_default();
    if raw == stored.len() {
        return Ok(stored);
    }
    decoder.decompress(stored, raw, room).ok_or(MalformedSegment::Compression("a digest's frame"))?;
    Ok(room)
}

/// The frames of a digest: the quarter hours, and each dimension.
struct Frames<'a>([Frame<'a>; DIMENSIONS + 1]);

impl<'a> Frames<'a> {
    /// Reads the frames of a digest with this scope and day.
    fn read(
        data: &'a [u8],
        scope: DigestScope,
        day: UtcDay,
        decoder: &mut Decoder,
        all: &'a mut Vec<u8>,
    ) -> Result<Self, MalformedSegment> {
        let (flags, rest) = checked(data, DIGEST_VERSION)?;
        let mut input = Input(rest);
        let scope = scope.bytes();
        let same_scope = input.take(scope.len()) == Some(scope.as_slice());
        let number = input.number().and_then(|number| i32::try_from(number).ok());
        if flags & !DIGEST_ONE_FRAME != 0 || !same_scope || number != Some(day.number()) {
            return Err(MalformedSegment::Value("flags, scope or day of a digest"));
        }
        let one_frame = flags == DIGEST_ONE_FRAME;
        let wrong = MalformedSegment::Length("a digest");
        let lengths = read_lengths(&mut input, one_frame).ok_or(wrong)?;
        let body = if one_frame {
            let length = lengths.iter().map(|(raw, _)| raw).sum();
            let length = Some(length).filter(|length| *length < DIGEST_ONE_FRAME_BELOW).ok_or(wrong)?;
            decoder.decompress(input.0, length, all).ok_or(MalformedSegment::Compression("a digest"))?;
            all.as_slice()
        } else {
            input.0
        };
        let mut body = Input(body);
        let mut frames = [Frame::default(); DIMENSIONS + 1];
        for (frame, (raw, stored)) in frames.iter_mut().zip(lengths) {
            *frame = Frame { raw, stored: body.take(stored).ok_or(wrong)? };
        }
        body.is_empty().then_some(Self(frames)).ok_or(wrong)
    }

    fn first(&self) -> Option<Frame<'a>> {
        self.0.first().copied()
    }

    /// The frame of a dimension; `None` if the digest has no sums of it.
    fn of_values(&self, dimension: usize) -> Option<Frame<'a>> {
        self.0.get(dimension + 1).copied().filter(|frame| frame.raw > 0)
    }
}

/// The lengths of the frames: raw and stored.
fn read_lengths(input: &mut Input<'_>, one_frame: bool) -> Option<[(usize, usize); DIMENSIONS + 1]> {
    let mut lengths = [(0, 0); DIMENSIONS + 1];
    for lengths in &mut lengths {
        let raw = input.length().filter(|raw| *raw <= MAX_FRAME)?;
        let saved = if one_frame { 0 } else { input.length()? };
        *lengths = (raw, raw.checked_sub(saved)?);
    }
    Some(lengths)
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
        let (clicks, bots, blocked, arrivals, departures) = (read()?, read()?, read()?, read()?, read()?);
        let mut hours = [0; HOURS];
        for number in &mut hours {
            *number = u64::from(input.small_number()?);
        }
        input.is_empty().then_some(Self { clicks, bots, blocked, arrivals, departures, hours })
    }

    /// Adds them to the buckets and the totals.
    fn add(&self, cuts: &DayCuts, report: &mut Report) {
        let total = |numbers: &[u64; QUARTERS], begin: usize, end: usize| -> u64 {
            numbers.get(begin..end).unwrap_or_default().iter().sum()
        };
        for piece in cuts.pieces() {
            let Some((begin, end)) = quarters(piece) else { continue };
            let visitors = if begin == 0 {
                total(&self.arrivals, 0, end)
            } else if end == QUARTERS {
                total(&self.departures, begin, QUARTERS)
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
        report.totals.visitors += total(&self.arrivals, 0, QUARTERS);
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
