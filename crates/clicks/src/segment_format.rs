//! The layout of a segment: its header, its columns and their bounds. `docs/click-segments.md` describes it.

use signpost_domain::analytics::{Dimension, UtcDay};
use signpost_domain::{LinkKind, Timestamp};

use crate::varint::{Input, put, put_count};
use crate::{MAX_CLICKS, MalformedSegment};

/// The version that this program writes, and the only one that it reads.
pub(crate) const VERSION: u8 = 1;

/// Behind version and flags.
const CHECKSUM_AT: usize = 2;
/// Version, flags, checksum.
const PREAMBLE: usize = 6;

const SEALED: u8 = 1;
const ONE_FRAME: u8 = 2;

/// Segments whose columns have fewer bytes than this are compressed in one frame.
pub(crate) const ONE_FRAME_BELOW: usize = 16_384;

/// The most bytes of all dictionaries of a segment.
pub(crate) const MAX_DICTIONARY_BYTES: usize = 16 << 20;

/// Milliseconds of a day.
pub(crate) const DAY_MILLIS: u32 = 86_400_000;

/// How many dimensions are recorded.
pub(crate) const DIMENSIONS: usize = Dimension::RECORDED.len();

/// A column of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Accounts and days, with their numbers of runs.
    Sections,
    /// The link of each run, and its number of clicks.
    Runs,
    /// Times within the day, as distances: the lowest byte of each.
    TimesLow,
    /// The distances without their lowest bytes.
    TimesHigh,
    /// Kinds.
    Kinds,
    /// For each row: 0 for the next visitor of the segment, or how far back its visitor is.
    VisitorReferences,
    /// The visitors of the segment: hashes, or how far back the visitor of the day is.
    Visitors,
    /// The distinct values of a dimension.
    Dictionary(usize),
    /// For each row its value's place in the dictionary.
    Codes(usize),
}

/// How many columns there are.
pub(crate) const COLUMNS: usize = 7 + 2 * DIMENSIONS;

const FIRST_COLUMNS: [Column; 7] = [
    Column::Sections,
    Column::Runs,
    Column::TimesLow,
    Column::TimesHigh,
    Column::Kinds,
    Column::VisitorReferences,
    Column::Visitors,
];

impl Column {
    /// All of them, in their order in the file.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        FIRST_COLUMNS.into_iter().chain(
            (0..DIMENSIONS).flat_map(|dimension| [Self::Dictionary(dimension), Self::Codes(dimension)]),
        )
    }

    /// Its place among all.
    pub(crate) const fn place(self) -> usize {
        match self {
            Self::Sections => 0,
            Self::Runs => 1,
            Self::TimesLow => 2,
            Self::TimesHigh => 3,
            Self::Kinds => 4,
            Self::VisitorReferences => 5,
            Self::Visitors => 6,
            Self::Dictionary(dimension) => 7 + 2 * dimension,
            Self::Codes(dimension) => 8 + 2 * dimension,
        }
    }

    /// What errors call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sections => "the column of sections",
            Self::Runs => "the column of runs",
            Self::TimesLow | Self::TimesHigh => "the column of times",
            Self::Kinds => "the column of kinds",
            Self::VisitorReferences => "the column of visitor references",
            Self::Visitors => "the column of visitors",
            Self::Dictionary(_) => "a dictionary",
            Self::Codes(_) => "a column of codes",
        }
    }

    /// The most bytes that it can have.
    fn max_length(self, header: &Header) -> usize {
        match self {
            Self::Sections => header.sections * (16 + 5 + 3),
            Self::Runs => header.runs * (16 + 1 + 3),
            Self::TimesLow => header.clicks,
            Self::Kinds => header.clicks.div_ceil(4),
            Self::Visitors => header.visitors * 6,
            Self::Dictionary(_) => MAX_DICTIONARY_BYTES,
            Self::TimesHigh | Self::VisitorReferences | Self::Codes(_) => header.clicks * 3,
        }
    }
}

/// What a segment says in front of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Whether visitors are ordinals of the day instead of hashes.
    pub(crate) sealed: bool,
    /// Whether one frame has all columns.
    pub(crate) one_frame: bool,
    /// How many rows it has.
    pub(crate) clicks: usize,
    /// How many pairs of account and day.
    pub(crate) sections: usize,
    /// How many links, counted once in each section.
    pub(crate) runs: usize,
    /// The first instant, in milliseconds.
    pub(crate) first: i64,
    /// The last instant.
    pub(crate) last: i64,
    /// How many distinct visitors.
    pub(crate) visitors: usize,
    /// Of a sealed segment: the ordinal of its first new visitor of the day.
    pub(crate) base: u32,
    /// Of a sealed segment: how many of its visitors are new on the day.
    pub(crate) fresh: u32,
}

/// Where a column is in the body.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Its length when decompressed.
    pub(crate) raw: usize,
    /// Its length in the body, the same if it is not compressed.
    pub(crate) stored: usize,
    /// Where it begins in the body.
    pub(crate) begin: usize,
}

impl Header {
    /// Appends the header with room for the checksum, and the directory of columns: the raw length of each, and its length in
    /// the body.
    pub(crate) fn write(&self, lengths: &[(usize, usize)], out: &mut Vec<u8>) {
        let flags = (if self.sealed { SEALED } else { 0 }) | (if self.one_frame { ONE_FRAME } else { 0 });
        out.extend_from_slice(&[VERSION, flags, 0, 0, 0, 0]);
        put_count(out, self.clicks);
        put_count(out, self.sections);
        put_count(out, self.runs);
        put(out, u64::try_from(self.first).unwrap_or(0));
        put(out, u64::try_from(self.last - self.first).unwrap_or(0));
        put_count(out, self.visitors);
        if self.sealed {
            put(out, u64::from(self.base));
            put(out, u64::from(self.fresh));
        }
        for (raw, stored) in lengths {
            put_count(out, *raw);
            if !self.one_frame {
                put_count(out, raw - stored);
            }
        }
    }

    /// Reads header and directory from a segment whose checksum is right. The rest is the body.
    pub(crate) fn read(data: &[u8]) -> Result<(Self, [Place; COLUMNS], &[u8]), MalformedSegment> {
        let (flags, rest) = checked(data, VERSION)?;
        if flags & !(SEALED | ONE_FRAME) != 0 {
            return Err(MalformedSegment::Value("the flags"));
        }
        let mut input = Input(rest);
        let header = Self::read_numbers(flags, &mut input).ok_or(MalformedSegment::Value("the header"))?;
        let mut places = [Place::default(); COLUMNS];
        let (mut begin, mut dictionaries) = (0_usize, 0_usize);
        for (column, place) in Column::all().zip(places.iter_mut()) {
            let wrong = MalformedSegment::Length(column.name());
            let raw = input.length().filter(|raw| *raw <= column.max_length(&header)).ok_or(wrong)?;
            let saved = if header.one_frame { 0 } else { input.length().ok_or(wrong)? };
            let stored = raw.checked_sub(saved).ok_or(wrong)?;
            *place = Place { raw, stored, begin };
            begin += stored;
            if let Column::Dictionary(_) = column {
                dictionaries += raw;
            }
        }
        let body = input.0;
        let fits = if header.one_frame { begin < ONE_FRAME_BELOW } else { begin == body.len() };
        if !fits || dictionaries > MAX_DICTIONARY_BYTES {
            return Err(MalformedSegment::Length("the body"));
        }
        Ok((header, places, body))
    }

    fn read_numbers(flags: u8, input: &mut Input<'_>) -> Option<Self> {
        let sealed = flags & SEALED != 0;
        let clicks = input.length()?;
        let sections = input.length()?;
        let runs = input.length()?;
        let first = i64::try_from(input.number()?).ok()?;
        let last = first.checked_add(i64::try_from(input.number()?).ok()?)?;
        let visitors = input.length()?;
        let base = if sealed { input.small_number()? } else { 0 };
        let fresh = if sealed { input.small_number()? } else { 0 };
        let possible = (1..=MAX_CLICKS).contains(&clicks)
            && (1..=clicks).contains(&runs)
            && (1..=runs).contains(&sections)
            && (1..=clicks).contains(&visitors)
            && Timestamp::from_unix_millis(last).is_some()
            && crate::numbers::place(fresh) <= visitors
            && base.checked_add(fresh).is_some()
            && (!sealed || sections == 1);
        let one_frame = flags & ONE_FRAME != 0;
        possible.then_some(Self {
            sealed,
            one_frame,
            clicks,
            sections,
            runs,
            first,
            last,
            visitors,
            base,
            fresh,
        })
    }
}

/// Writes the checksum into its place.
pub(crate) fn set_checksum(data: &mut [u8]) {
    let sum = checksum(data).to_le_bytes();
    if let Some(room) = data.get_mut(CHECKSUM_AT..PREAMBLE) {
        room.copy_from_slice(&sum);
    }
}

/// The flags and what follows the preamble, if version and checksum are right. Digests have the same preamble.
pub(crate) fn checked(data: &[u8], version: u8) -> Result<(u8, &[u8]), MalformedSegment> {
    let mut input = Input(data);
    let [found, flags] = input.array().ok_or(MalformedSegment::Length("the preamble"))?;
    if found != version {
        return Err(MalformedSegment::UnknownVersion(found));
    }
    let stored = input.array().ok_or(MalformedSegment::Length("the preamble"))?;
    if u32::from_le_bytes(stored) != checksum(data) {
        return Err(MalformedSegment::Checksum);
    }
    Ok((flags, input.0))
}

/// CRC-32 of all but the checksum's own place.
fn checksum(data: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(data.get(..CHECKSUM_AT).unwrap_or_default());
    hasher.update(data.get(PREAMBLE..).unwrap_or_default());
    hasher.finalize()
}

/// The number of a kind of links in segments.
pub(crate) fn link_kind_number(kind: LinkKind) -> u8 {
    match kind {
        LinkKind::Landing => 0,
        LinkKind::Redirect => 1,
    }
}

/// The kind of links of a number.
pub(crate) fn link_kind_of_number(number: u8) -> Option<LinkKind> {
    [LinkKind::Landing, LinkKind::Redirect].into_iter().find(|kind| link_kind_number(*kind) == number)
}

/// From which millisecond of its day a run's first time is counted: from the segment's first instant, or from midnight if that
/// is on an earlier day.
pub(crate) fn base_of_day(day: UtcDay, first: i64) -> u32 {
    u32::try_from(first - day.first().unix_millis()).unwrap_or(0)
}

/// How many bits a code takes that shares its byte with others; `None` if it takes a byte or more.
pub(crate) fn packed_bits(values: usize) -> Option<u32> {
    match values {
        ..=2 => Some(1),
        3..=4 => Some(2),
        5..=16 => Some(4),
        _ => None,
    }
}
