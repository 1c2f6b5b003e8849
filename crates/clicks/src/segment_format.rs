//! The layout of a segment: its header, its columns and their limits. `docs/click-segments.md` describes it.

use signpost_domain::analytics::{Dimension, UtcDay};
use signpost_domain::{LinkKind, Timestamp};

use crate::MAX_CLICKS;
use crate::numbers::{Input, put, put_count};

/// Why bytes are not a valid segment or digest, or not the one expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedSegment {
    /// The first byte names a version that this program does not read.
    #[error("version {0} of the format is unknown")]
    UnknownVersion(u8),
    /// The bytes were changed after they were written.
    #[error("the checksum does not match")]
    Checksum,
    /// A part is too short or too long.
    #[error("{0} does not have the length that the header says")]
    Length(&'static str),
    /// A part cannot be decompressed.
    #[error("{0} cannot be decompressed to its length")]
    Compression(&'static str),
    /// A part has an impossible value.
    #[error("{0} has an impossible value")]
    Value(&'static str),
    /// The clicks belong to several accounts or days, but one is expected.
    #[error("clicks of several accounts or days where one account's day is expected")]
    SeveralDays,
    /// The segment is sealed, but the visitors' hashes are needed.
    #[error("the segment is sealed, and its visitors' hashes are needed")]
    Sealed,
}

/// The version that this program writes, and the only one that it reads.
pub(crate) const VERSION: u8 = 1;

/// After version and flags.
const CHECKSUM_AT: usize = 2;
/// Version, flags, checksum.
const PREAMBLE: usize = 6;

const SEALED: u8 = 1;
const ONE_FRAME: u8 = 2;

/// Segments with fewer bytes of columns are compressed in one frame.
pub(crate) const ONE_FRAME_BELOW: usize = 16_384;

/// Maximum bytes of all dictionaries of a segment.
pub(crate) const MAX_DICTIONARY_BYTES: usize = 16 << 20;

/// Milliseconds of a day.
pub(crate) const DAY_MILLIS: u32 = 86_400_000;

/// The number of recorded dimensions.
pub(crate) const DIMENSIONS: usize = Dimension::RECORDED.len();

/// A column of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Accounts and days, with their numbers of runs.
    Sections,
    /// The link of each run, and its number of clicks.
    Runs,
    /// Times within the day, as differences: the lowest byte of each.
    TimesLow,
    /// The differences without their lowest bytes.
    TimesHigh,
    /// Kinds.
    Kinds,
    /// For each row: 0 for the next visitor of the segment, or the distance back to its visitor.
    VisitorReferences,
    /// The visitors of the segment: hashes, or the distance back to the visitor of the day.
    Visitors,
    /// The distinct values of a dimension.
    Dictionary(usize),
    /// For each row, the index of its value in the dictionary.
    Codes(usize),
}

/// The number of columns.
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
    /// All columns, in their order in the file.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        FIRST_COLUMNS.into_iter().chain(
            (0..DIMENSIONS).flat_map(|dimension| [Self::Dictionary(dimension), Self::Codes(dimension)]),
        )
    }

    /// The column's index.
    pub(crate) const fn index(self) -> usize {
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

    /// The name in error messages.
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

    /// Maximum length in bytes.
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

/// What precedes the columns of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Whether visitors are ordinals of the day instead of hashes.
    pub(crate) sealed: bool,
    /// Whether one frame has all columns.
    pub(crate) one_frame: bool,
    /// The number of rows.
    pub(crate) clicks: usize,
    /// The number of pairs of account and day.
    pub(crate) sections: usize,
    /// The number of links, counted once in each section.
    pub(crate) runs: usize,
    /// The first instant, in milliseconds.
    pub(crate) first: i64,
    /// The last instant.
    pub(crate) last: i64,
    /// The number of distinct visitors.
    pub(crate) visitors: usize,
    /// In a sealed segment: the ordinal of its first new visitor of the day.
    pub(crate) base: u32,
    /// In a sealed segment: the number of its visitors that are new on the day.
    pub(crate) fresh: u32,
}

/// The location of a column in the body.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ColumnLocation {
    /// Its decompressed length.
    pub(crate) raw: usize,
    /// Its length in the body, which is the same if it is not compressed.
    pub(crate) stored: usize,
    /// Its start in the body.
    pub(crate) begin: usize,
}

impl Header {
    /// Appends the header with room for the checksum, and the directory of columns: each column's raw length,
    /// and its length in the body.
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

    /// Reads header and directory from a segment with a valid checksum. The rest is the body.
    pub(crate) fn read(data: &[u8]) -> Result<(Self, [ColumnLocation; COLUMNS], &[u8]), MalformedSegment> {
        let (flags, rest) = checked(data, VERSION)?;
        if flags & !(SEALED | ONE_FRAME) != 0 {
            return Err(MalformedSegment::Value("the flags"));
        }
        let mut input = Input(rest);
        let header = Self::read_numbers(flags, &mut input).ok_or(MalformedSegment::Value("the header"))?;
        let mut locations = [ColumnLocation::default(); COLUMNS];
        let (mut begin, mut dictionaries) = (0_usize, 0_usize);
        for (column, location) in Column::all().zip(locations.iter_mut()) {
            let wrong = MalformedSegment::Length(column.name());
            let raw = input.length().filter(|raw| *raw <= column.max_length(&header)).ok_or(wrong)?;
            let saved = if header.one_frame { 0 } else { input.length().ok_or(wrong)? };
            let stored = raw.checked_sub(saved).ok_or(wrong)?;
            *location = ColumnLocation { raw, stored, begin };
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
        Ok((header, locations, body))
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
            && crate::numbers::index(fresh) <= visitors
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

/// Writes the checksum.
pub(crate) fn set_checksum(data: &mut [u8]) {
    let sum = checksum(data).to_le_bytes();
    if let Some(room) = data.get_mut(CHECKSUM_AT..PREAMBLE) {
        room.copy_from_slice(&sum);
    }
}

/// Returns the flags and the bytes after the preamble, if version and checksum are valid. Digests have the
/// same preamble.
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

/// CRC-32 of all bytes except the checksum.
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

/// The millisecond of a day from which a run's first time is counted. It is the segment's first instant, or
/// midnight if that is on an earlier day.
pub(crate) fn base_of_day(day: UtcDay, first: i64) -> u32 {
    u32::try_from(first - day.first().unix_millis()).unwrap_or(0)
}

/// The number of bits of a code that shares its byte with others; `None` if a code takes a byte or more.
pub(crate) fn packed_bits(values: usize) -> Option<u32> {
    match values {
        ..=2 => Some(1),
        3..=4 => Some(2),
        5..=16 => Some(4),
        _ => None,
    }
}
