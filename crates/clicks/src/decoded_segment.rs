//! A segment with all columns decoded and checked.

use std::ops::Range;

use crate::MalformedSegment;
use crate::click_rows::{ClickRows, Dictionary, DimensionRows};
use crate::columns::{Run, Visitor};
use crate::numbers::{Input, index, number};
use crate::segment_format::{Column, DAY_MILLIS, DIMENSIONS, Header, base_of_day, packed_bits};
use crate::segment_reader::{Decoder, RunOfClicks, Segment};

/// The content of a segment. Callers that read several keep one, to reuse its memory.
#[derive(Debug, Default)]
pub(crate) struct DecodedSegment {
    /// Whether its visitors are ordinals.
    pub(crate) sealed: bool,
    /// The runs, in order.
    pub(crate) runs: Vec<RunOfClicks>,
    /// The millisecond in the day of each row.
    pub(crate) times: Vec<u32>,
    /// The number of each row's kind.
    pub(crate) kinds: Vec<u8>,
    /// Each row's visitor, as an index into `visitors`.
    pub(crate) visitor: Vec<u32>,
    /// The distinct visitors.
    pub(crate) visitors: Vec<Visitor>,
    dimensions: [DecodedDimension; DIMENSIONS],
    room: Vec<u8>,
}

#[derive(Debug, Default)]
struct DecodedDimension {
    text: String,
    values: Vec<Range<usize>>,
    codes: Vec<u32>,
}

impl Dictionary for DecodedDimension {
    fn count(&self) -> usize {
        self.values.len()
    }

    fn value(&self, number: u32) -> &str {
        let value = self.values.get(index(number)).and_then(|value| self.text.get(value.clone()));
        value.unwrap_or_default()
    }
}

impl DecodedSegment {
    /// Replaces the content by that of a segment. After an error the content is undefined.
    pub(crate) fn read(&mut self, data: &[u8], decoder: &mut Decoder) -> Result<(), MalformedSegment> {
        let segment = Segment::open(data, decoder)?;
        self.sealed = segment.header.sealed;
        let sections = segment.sections(decoder, &mut self.room)?;
        segment.runs(&sections, decoder, &mut self.room, &mut self.runs)?;
        read_times(&segment, &self.runs, (decoder, &mut self.room), &mut self.times)?;
        let kinds = Kinds::read(&segment, decoder, &mut self.room)?;
        self.kinds.clear();
        self.kinds.extend((0..segment.header.clicks).map(|row| kinds.of(row)));
        let references = segment.column(Column::VisitorReferences, decoder, &mut self.room)?;
        read_references(references, &segment.header, &mut self.visitor)?;
        let visitors = segment.column(Column::Visitors, decoder, &mut self.room)?;
        read_visitors(visitors, &segment.header, &mut self.visitors)?;
        for (dimension, decoded) in self.dimensions.iter_mut().enumerate() {
            let dictionary = segment.column(Column::Dictionary(dimension), decoder, &mut self.room)?;
            decoded.text.clear();
            decoded.values.clear();
            each_value(dictionary, segment.header.clicks, |value| {
                let begin = decoded.text.len();
                decoded.text.push_str(value);
                decoded.values.push(begin..decoded.text.len());
            })?;
            let column = segment.column(Column::Codes(dimension), decoder, &mut self.room)?;
            let codes = Codes::new(column, segment.header.clicks, decoded.values.len())?;
            decoded.codes.clear();
            decoded.codes.extend((0..segment.header.clicks).map(|row| codes.of(row)));
            let values = number(decoded.values.len());
            if decoded.codes.iter().any(|code| *code >= values) {
                return Err(MalformedSegment::Value(Column::Codes(dimension).name()));
            }
        }
        Ok(())
    }

    /// The distinct values of a dimension.
    pub(crate) fn dictionary(&self, dimension: usize) -> impl Iterator<Item = &str> {
        let found = self.dimensions.get(dimension);
        let values = found.map(|found| found.values.as_slice()).unwrap_or_default();
        values
            .iter()
            .map(move |value| found.and_then(|found| found.text.get(value.clone())).unwrap_or_default())
    }

    /// Each row's index in the dictionary.
    pub(crate) fn codes(&self, dimension: usize) -> &[u32] {
        self.dimensions.get(dimension).map(|found| found.codes.as_slice()).unwrap_or_default()
    }

    /// The rows, borrowed. `runs` is for the distinct runs, and `run` for the run of each click.
    pub(crate) fn rows<'a>(&'a self, runs: &'a mut Vec<Run>, run: &'a mut Vec<u32>) -> ClickRows<'a> {
        runs.clear();
        run.clear();
        for (of_run, at) in self.runs.iter().zip(0..) {
            runs.push(of_run.run);
            run.resize(run.len() + index(of_run.clicks), at);
        }
        let dimension = |of: &'a DecodedDimension| DimensionRows { dictionary: of, value: &of.codes };
        ClickRows {
            runs,
            run,
            time: &self.times,
            kind: &self.kinds,
            visitors: &self.visitors,
            visitor: &self.visitor,
            dimensions: self.dimensions.iter().map(dimension).collect(),
        }
    }

    /// A row's value.
    pub(crate) fn value(&self, dimension: usize, row: usize) -> &str {
        let value = || {
            let found = self.dimensions.get(dimension)?;
            Some(Dictionary::value(found, *found.codes.get(row)?))
        };
        value().unwrap_or_default()
    }
}

/// The column of kinds. Two bits a row, so every value is a valid kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kinds<'a>(&'a [u8]);

impl<'a> Kinds<'a> {
    /// Reads the column.
    pub(crate) fn read(
        segment: &'a Segment<'_>,
        decoder: &mut Decoder,
        room: &'a mut Vec<u8>,
    ) -> Result<Self, MalformedSegment> {
        let kinds = segment.column(Column::Kinds, decoder, room)?;
        if kinds.len() != segment.header.clicks.div_ceil(4) {
            return Err(MalformedSegment::Length(Column::Kinds.name()));
        }
        Ok(Self(kinds))
    }

    /// The number of a row's kind.
    #[inline]
    pub(crate) fn of(&self, row: usize) -> u8 {
        self.0.get(row / 4).map_or(0, |byte| byte >> (row % 4 * 2) & 3)
    }
}

/// The millisecond of the day of each row of the runs. It does not read rows after the last run.
pub(crate) fn read_times(
    segment: &Segment<'_>,
    runs: &[RunOfClicks],
    (decoder, room): (&mut Decoder, &mut Vec<u8>),
    out: &mut Vec<u32>,
) -> Result<(), MalformedSegment> {
    let wrong = MalformedSegment::Value(Column::TimesHigh.name());
    let header = &segment.header;
    out.clear();
    let low = segment.column(Column::TimesLow, decoder, room)?;
    if low.len() != header.clicks {
        return Err(MalformedSegment::Length(Column::TimesLow.name()));
    }
    out.extend(low.iter().map(|low| u32::from(*low)));
    let mut input = Input(segment.column(Column::TimesHigh, decoder, room)?);
    let mut rows = out.iter_mut();
    let mut read = 0;
    for run in runs {
        let begin = run.run.day.first().unix_millis();
        let end = u32::try_from(header.last - begin).unwrap_or(DAY_MILLIS - 1).min(DAY_MILLIS - 1);
        let mut time = base_of_day(run.run.day, header.first);
        for row in rows.by_ref().take(index(run.clicks)) {
            let high = input.small_number().filter(|high| *high < 1 << 20).ok_or(wrong)?;
            time += high << 8 | *row;
            if time > end {
                return Err(wrong);
            }
            *row = time;
        }
        read += index(run.clicks);
    }
    if read == header.clicks && !input.is_empty() {
        return Err(wrong);
    }
    out.truncate(read);
    Ok(())
}

/// Each row's visitor, as an index into the segment's distinct visitors.
pub(crate) fn read_references(
    column: &[u8],
    header: &Header,
    out: &mut Vec<u32>,
) -> Result<(), MalformedSegment> {
    let wrong = MalformedSegment::Value(Column::VisitorReferences.name());
    out.clear();
    out.reserve(header.clicks);
    let mut input = Input(column);
    let mut next = 0_u32;
    for _ in 0..header.clicks {
        let back = input.small_number().ok_or(wrong)?;
        if back == 0 {
            out.push(next);
            next += 1;
        } else {
            out.push(next.checked_sub(back).ok_or(wrong)?);
        }
    }
    (input.is_empty() && index(next) == header.visitors).then_some(()).ok_or(wrong)
}

/// The segment's distinct visitors.
pub(crate) fn read_visitors(
    column: &[u8],
    header: &Header,
    out: &mut Vec<Visitor>,
) -> Result<(), MalformedSegment> {
    let wrong = MalformedSegment::Value(Column::Visitors.name());
    out.clear();
    if !header.sealed {
        let (hashes, rest) = column.as_chunks::<6>();
        if hashes.len() != header.visitors || !rest.is_empty() {
            return Err(wrong);
        }
        out.extend(hashes.iter().map(|hash| Visitor::Hash(*hash)));
        return Ok(());
    }
    let mut input = Input(column);
    let mut next = header.base;
    for _ in 0..header.visitors {
        let back = input.small_number().ok_or(wrong)?;
        if back == 0 {
            out.push(Visitor::Ordinal(next));
            next = next.checked_add(1).ok_or(wrong)?;
        } else {
            out.push(Visitor::Ordinal(next.checked_sub(back).ok_or(wrong)?));
        }
    }
    (input.is_empty() && next - header.base == header.fresh).then_some(()).ok_or(wrong)
}

/// Calls `each` with the values of a dictionary, which has at least one value and at most this many.
pub(crate) fn each_value(
    column: &[u8],
    at_most: usize,
    mut each: impl FnMut(&str),
) -> Result<usize, MalformedSegment> {
    let wrong = MalformedSegment::Value(Column::Dictionary(0).name());
    let mut input = Input(column);
    let mut values = 0;
    while !input.is_empty() {
        let length = input.length().ok_or(wrong)?;
        let value = input.take(length).ok_or(wrong)?;
        each(std::str::from_utf8(value).map_err(|_| wrong)?);
        values += 1;
    }
    (1..=at_most).contains(&values).then_some(values).ok_or(wrong)
}

/// A column of codes: several in a byte, or one plane for each byte of a code.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Codes<'a> {
    /// All rows have the only value.
    One,
    /// Up to 16 values, with this many bits each.
    Packed(&'a [u8], u32),
    /// Up to 256 values.
    Bytes(&'a [u8]),
    /// Up to 65,536 values.
    Pairs(&'a [u8], &'a [u8]),
    /// More values.
    Triples(&'a [u8], &'a [u8], &'a [u8]),
}

impl<'a> Codes<'a> {
    /// The codes of a dimension with this many rows and values.
    pub(crate) fn new(column: &'a [u8], rows: usize, values: usize) -> Result<Self, MalformedSegment> {
        if let Some(bits) = packed_bits(values).filter(|_| values > 1) {
            let expected = (rows * index(bits)).div_ceil(8);
            let wrong = MalformedSegment::Length(Column::Codes(0).name());
            return (column.len() == expected).then_some(Self::Packed(column, bits)).ok_or(wrong);
        }
        let mut planes = column.chunks_exact(rows.max(1));
        let codes = match (values, planes.next(), planes.next(), planes.next()) {
            (..=1, None, _, _) => Self::One,
            (17..=0x100, Some(low), None, _) => Self::Bytes(low),
            (0x101..=0x1_0000, Some(low), Some(middle), None) => Self::Pairs(low, middle),
            (0x1_0001.., Some(low), Some(middle), Some(high)) => Self::Triples(low, middle, high),
            _ => return Err(MalformedSegment::Length(Column::Codes(0).name())),
        };
        if planes.next().is_some() || !planes.remainder().is_empty() {
            return Err(MalformedSegment::Length(Column::Codes(0).name()));
        }
        Ok(codes)
    }

    /// A row's code, or one that no dictionary has if the row does not exist.
    #[inline]
    pub(crate) fn of(&self, row: usize) -> u32 {
        let byte = |plane: &[u8]| plane.get(row).map(|byte| u32::from(*byte));
        let code = match self {
            Self::One => Some(0),
            Self::Packed(codes, bits) => return packed(codes, *bits, row),
            Self::Bytes(low) => byte(low),
            Self::Pairs(low, middle) => byte(low).zip(byte(middle)).map(|(low, middle)| low | middle << 8),
            Self::Triples(low, middle, high) => byte(low)
                .zip(byte(middle))
                .zip(byte(high))
                .map(|((low, middle), high)| low | middle << 8 | high << 16),
        };
        code.unwrap_or(u32::MAX)
    }
}

/// Reads a code of this many bits.
#[inline]
pub(crate) fn packed(codes: &[u8], bits: u32, row: usize) -> u32 {
    let bit = row * index(bits);
    codes.get(bit / 8).map_or(u32::MAX, |byte| u32::from(byte >> (bit % 8)) & ((1 << bits) - 1))
}
