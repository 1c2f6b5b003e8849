//! Reads segments: the header at once, each column on demand.

use std::borrow::Cow;

use signpost_domain::analytics::{RecordedClick, UtcDay, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, Timestamp};
use zstd::bulk::Decompressor;

use crate::MalformedSegment;
use crate::columns::{Run, Visitor, kind_of_number};
use crate::decoded_segment::DecodedSegment;
use crate::numbers::{Input, index};
use crate::segment_format::{COLUMNS, Column, ColumnLocation, Header, link_kind_of_number};

/// Calls `each` with every row of a segment, in the order of account, day, link and time. The visitor of a
/// sealed segment is its ordinal on that day. A malformed segment yields no rows.
pub fn read(data: &[u8], mut each: impl FnMut(RecordedClick<'_>)) -> Result<(), MalformedSegment> {
    let mut decoded = DecodedSegment::default();
    decoded.read(data, &mut Decoder::new())?;
    let mut rows = 0..;
    for run in &decoded.runs {
        for row in rows.by_ref().take(index(run.clicks)) {
            let Some(click) = click_of(&decoded, run.run, row) else { continue };
            each(click);
        }
    }
    Ok(())
}

/// The accounts that have clicks in a segment, each once, in ascending order. Clicks are not read.
pub fn accounts(data: &[u8]) -> Result<Vec<AccountId>, MalformedSegment> {
    let mut decoder = Decoder::new();
    let segment = Segment::open(data, &mut decoder)?;
    let sections = segment.sections(&mut decoder, &mut Vec::new())?;
    let mut accounts: Vec<AccountId> = sections.into_iter().map(|section| section.account).collect();
    accounts.sort_unstable();
    accounts.dedup();
    Ok(accounts)
}

fn click_of(decoded: &DecodedSegment, run: Run, row: usize) -> Option<RecordedClick<'_>> {
    let time = i64::from(*decoded.times.get(row)?);
    let visitor = decoded.visitors.get(index(*decoded.visitor.get(row)?)).copied().map(Visitor::bytes)?;
    let mut values = Values::default();
    for (dimension, value) in values.0.iter_mut().enumerate() {
        *value = decoded.value(dimension, row);
    }
    Some(RecordedClick {
        at: Timestamp::from_unix_millis(run.day.first().unix_millis() + time)?,
        account: run.account,
        link: run.link,
        kind: kind_of_number(*decoded.kinds.get(row)?)?,
        visitor: VisitorHash(visitor),
        values,
    })
}

/// Decompresses columns.
pub(crate) struct Decoder(Option<Decompressor<'static>>);

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Decoder {
    pub(crate) fn new() -> Self {
        Self(Decompressor::new().ok())
    }

    /// Replaces the content of `out` by the decompressed data, which must have exactly this length.
    pub(crate) fn decompress(&mut self, data: &[u8], length: usize, out: &mut Vec<u8>) -> Option<()> {
        out.clear();
        out.reserve(length);
        let written = self.0.as_mut()?.decompress_to_buffer(data, out).ok()?;
        (written == length && out.len() == length).then_some(())
    }
}

/// A segment with its header.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    /// The header.
    pub(crate) header: Header,
    locations: [ColumnLocation; COLUMNS],
    body: Cow<'a, [u8]>,
}

/// An account's day in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    /// The account.
    pub(crate) account: AccountId,
    /// The day.
    pub(crate) day: UtcDay,
    /// The number of runs.
    pub(crate) runs: usize,
}

/// The clicks of a link on a day in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunOfClicks {
    /// The link, account and day.
    pub(crate) run: Run,
    /// The number of clicks.
    pub(crate) clicks: u32,
}

impl<'a> Segment<'a> {
    /// Whether it may have clicks of a day from one millisecond of it to another, inclusively.
    pub(crate) fn may_have_clicks(&self, day: UtcDay, (from, until): (u32, u32)) -> bool {
        let begin = day.first().unix_millis();
        self.header.first <= begin + i64::from(until) && self.header.last >= begin + i64::from(from)
    }

    /// Checks a segment and reads its header.
    pub(crate) fn open(data: &'a [u8], decoder: &mut Decoder) -> Result<Self, MalformedSegment> {
        let (header, locations, body) = Header::read(data)?;
        let body = if header.one_frame {
            let length = locations.iter().map(|location| location.raw).sum();
            let mut all = Vec::new();
            decoder.decompress(body, length, &mut all).ok_or(MalformedSegment::Compression("the body"))?;
            Cow::Owned(all)
        } else {
            Cow::Borrowed(body)
        };
        Ok(Self { header, locations, body })
    }

    /// A column's bytes, decompressed into `room` if necessary.
    pub(crate) fn column<'b>(
        &'b self,
        column: Column,
        decoder: &mut Decoder,
        room: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], MalformedSegment> {
        let wrong = MalformedSegment::Length(column.name());
        let ColumnLocation { raw, stored, begin } =
            self.locations.get(column.index()).copied().ok_or(wrong)?;
        let bytes = self.body.get(begin..begin + stored).ok_or(wrong)?;
        if raw == stored {
            return Ok(bytes);
        }
        decoder.decompress(bytes, raw, room).ok_or(MalformedSegment::Compression(column.name()))?;
        Ok(room)
    }

    /// Reads the sections.
    pub(crate) fn sections(
        &self,
        decoder: &mut Decoder,
        room: &mut Vec<u8>,
    ) -> Result<Vec<Section>, MalformedSegment> {
        let mut input = Input(self.column(Column::Sections, decoder, room)?);
        let mut left = self.header.runs;
        let mut next = || {
            let account = AccountId::from_bytes(input.array()?);
            let number = i32::try_from(input.number()?).ok()?;
            let day = UtcDay::from_number(number);
            let runs = input.length().filter(|runs| (1..=left).contains(runs))?;
            left -= runs;
            let touched = day.first().unix_millis() <= self.header.last
                && self.header.first <= day.last().unix_millis();
            (day.number() == number && touched).then_some(Section { account, day, runs })
        };
        let sections: Option<Vec<Section>> = (0..self.header.sections).map(|_| next()).collect();
        match sections {
            Some(sections) if input.is_empty() && left == 0 => Ok(sections),
            _ => Err(MalformedSegment::Value(Column::Sections.name())),
        }
    }

    /// Reads the runs of sections that were read before.
    pub(crate) fn runs(
        &self,
        sections: &[Section],
        decoder: &mut Decoder,
        room: &mut Vec<u8>,
        out: &mut Vec<RunOfClicks>,
    ) -> Result<(), MalformedSegment> {
        out.clear();
        let count = self.header.runs;
        let column = self.column(Column::Runs, decoder, room)?;
        let wrong = MalformedSegment::Value(Column::Runs.name());
        let (ids, rest) = column.split_at_checked(16 * count).ok_or(wrong)?;
        let (kinds, rest) = rest.split_at_checked(count).ok_or(wrong)?;
        let mut input = Input(rest);
        let mut left = self.header.clicks;
        let days = sections.iter().flat_map(|section| std::iter::repeat_n(section, section.runs));
        for ((section, kind), run) in days.zip(kinds).zip(0..) {
            let mut id = [0; 16];
            for (byte, plane) in id.iter_mut().zip(ids.chunks_exact(count)) {
                *byte = plane.get(run).copied().unwrap_or(0);
            }
            let link = LinkId::from_bytes(link_kind_of_number(*kind).ok_or(wrong)?, id);
            let clicks = input.small_number().filter(|clicks| *clicks > 0).ok_or(wrong)?;
            left = left.checked_sub(index(clicks)).ok_or(wrong)?;
            out.push(RunOfClicks { run: Run { account: section.account, day: section.day, link }, clicks });
        }
        (input.is_empty() && left == 0).then_some(()).ok_or(wrong)
    }
}
