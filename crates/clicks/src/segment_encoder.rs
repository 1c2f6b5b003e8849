//! Writes columns as segments.

use std::cell::RefCell;

use zstd::bulk::Compressor;

use crate::columns::{Columns, Run, Visitor};
use crate::numbers::{index, put, put_count};
use crate::segment_format::{
    COLUMNS, Column, DIMENSIONS, Header, MAX_DICTIONARY_BYTES, ONE_FRAME_BELOW, base_of_day,
    link_kind_number, packed_bits, set_checksum,
};
use crate::tables::Renumbering;

/// The compression level of zstd. Higher levels save a few percent and take several times as long.
const LEVEL: i32 = 1;

/// Shorter columns get no frame of their own.
const MIN_FRAME: usize = 24;

/// The numbers that sealing gives to the visitors of a day, by first appearance.
#[derive(Debug, Default)]
pub(crate) struct DayOrdinals(Renumbering);

impl DayOrdinals {
    /// Starts with room for this many visitors.
    pub(crate) fn new(visitors: usize) -> Self {
        let mut numbers = Renumbering::default();
        numbers.begin(visitors);
        Self(numbers)
    }
}

thread_local! {
    // One for each thread: creating one costs more than compressing the clicks of a small account.
    static ZSTD: RefCell<Option<Compressor<'static>>> = RefCell::new(new_compressor());
}

/// The columns before they are compressed.
#[derive(Default)]
struct RawColumns([Vec<u8>; COLUMNS], Vec<u8>);

impl RawColumns {
    fn of(&mut self, column: Column) -> &mut Vec<u8> {
        // Every column has an index, so the spare buffer is never written.
        self.0.get_mut(column.index()).unwrap_or(&mut self.1)
    }

    fn clear(&mut self) {
        for raw in &mut self.0 {
            raw.clear();
        }
    }
}

/// Encodes segments, and reuses its memory.
pub(crate) struct Encoder {
    raw: RawColumns,
    visitors: Renumbering,
    values: [Renumbering; DIMENSIONS],
    codes: Vec<u32>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// The counts that describe the columns in `raw`.
struct Shape {
    runs: usize,
    sections: usize,
    visitors: usize,
    base: u32,
    fresh: u32,
}

impl Encoder {
    /// Starts empty.
    pub(crate) fn new() -> Self {
        Self {
            raw: RawColumns::default(),
            visitors: Renumbering::default(),
            values: std::array::from_fn(|_| Renumbering::default()),
            codes: Vec::new(),
        }
    }

    /// Encodes rows of the columns, in the order of segments, as one segment. With ordinals the segment is
    /// sealed. `None` if the rows have too many long values for one segment, or if there are no rows.
    pub(crate) fn encode(
        &mut self,
        columns: &Columns,
        rows: &[u32],
        ordinals: Option<&mut DayOrdinals>,
    ) -> Option<Vec<u8>> {
        self.raw.clear();
        let instants = rows.iter().map(|row| columns.instant_of(*row));
        let (first, last) = (instants.clone().min()?, instants.max()?);
        if !self.write_values(columns, rows) {
            return None;
        }
        let (sections, runs) = self.write_runs(columns, rows, first);
        let sealed = ordinals.is_some();
        let (base, fresh) = self.write_visitors(columns, rows, ordinals);
        let visitors = index(self.visitors.count());
        let shape = Shape { runs, sections, visitors, base, fresh };
        Some(self.finish(rows.len(), (first, last), sealed, &shape))
    }

    fn write_runs(&mut self, columns: &Columns, rows: &[u32], first: i64) -> (usize, usize) {
        let mut runs: Vec<(Run, usize)> = Vec::new();
        let mut previous = 0;
        for row in rows {
            let Some(run) = columns.run_of(*row) else { continue };
            match runs.last_mut() {
                Some((last, clicks)) if *last == run => *clicks += 1,
                _ => {
                    runs.push((run, 1));
                    previous = base_of_day(run.day, first);
                }
            }
            let time = columns.time.get(index(*row)).copied().unwrap_or(0);
            let [low, ..] = time.saturating_sub(previous).to_le_bytes();
            self.raw.of(Column::TimesLow).push(low);
            put(self.raw.of(Column::TimesHigh), u64::from(time.saturating_sub(previous) >> 8));
            previous = time;
        }
        let kinds = rows.iter().map(|row| columns.kind.get(index(*row)).copied().map_or(0, u32::from));
        put_packed(kinds, 2, self.raw.of(Column::Kinds));
        let mut sections = 0;
        for group in runs.chunk_by(|one, next| one.0.same_day(&next.0)) {
            if let Some((run, _)) = group.first() {
                let out = self.raw.of(Column::Sections);
                out.extend_from_slice(&run.account.to_bytes());
                put(out, u64::try_from(run.day.number()).unwrap_or(0));
                put_count(out, group.len());
                sections += 1;
            }
        }
        let out = self.raw.of(Column::Runs);
        // Byte by byte: ids created one after another share their first bytes.
        for byte in 0..16 {
            out.extend(runs.iter().filter_map(|(run, _)| run.link.to_bytes().get(byte).copied()));
        }
        out.extend(runs.iter().map(|(run, _)| link_kind_number(run.link.kind())));
        for (_, clicks) in &runs {
            put_count(out, *clicks);
        }
        (sections, runs.len())
    }

    fn write_visitors(
        &mut self,
        columns: &Columns,
        rows: &[u32],
        mut ordinals: Option<&mut DayOrdinals>,
    ) -> (u32, u32) {
        let base = ordinals.as_ref().map_or(0, |day| day.0.count());
        self.visitors.begin(columns.visitors.len());
        for row in rows {
            let visitor = columns.visitor.get(index(*row)).copied().unwrap_or(0);
            let (number, new) = self.visitors.number(visitor);
            let back = if new { 0 } else { u64::from(self.visitors.count() - number) };
            put(self.raw.of(Column::VisitorReferences), back);
            if !new {
                continue;
            }
            let out = self.raw.of(Column::Visitors);
            if let Some(day) = &mut ordinals {
                let (ordinal, new) = day.0.number(visitor);
                put(out, if new { 0 } else { u64::from(day.0.count() - ordinal) });
            } else {
                let known = columns.visitors.keys().get(index(visitor)).copied();
                out.extend_from_slice(&known.map_or([0; 6], Visitor::bytes));
            }
        }
        let end = ordinals.as_ref().map_or(0, |day| day.0.count());
        (base, end - base)
    }

    /// Writes the dictionaries. Returns whether they are small enough.
    fn write_values(&mut self, columns: &Columns, rows: &[u32]) -> bool {
        let mut dictionaries = 0;
        let tables = columns.values.iter().zip(&columns.value).zip(&mut self.values).enumerate();
        for (dimension, ((table, column_of_rows), numbers)) in tables {
            numbers.begin(table.len());
            self.codes.clear();
            let dictionary = self.raw.of(Column::Dictionary(dimension));
            for row in rows {
                let value = column_of_rows.get(index(*row)).copied().unwrap_or(0);
                let (code, new) = numbers.number(value);
                self.codes.push(code);
                if new {
                    let value = table.value(value);
                    put_count(dictionary, value.len());
                    dictionary.extend_from_slice(value.as_bytes());
                }
            }
            dictionaries += dictionary.len();
            if dictionaries > MAX_DICTIONARY_BYTES {
                return false;
            }
            let out = self.raw.of(Column::Codes(dimension));
            put_codes(&self.codes, numbers.count(), out);
        }
        true
    }

    fn finish(&mut self, clicks: usize, (first, last): (i64, i64), sealed: bool, shape: &Shape) -> Vec<u8> {
        let total: usize = self.raw.0.iter().map(Vec::len).sum();
        let mut lengths: Vec<(usize, usize)> = Vec::with_capacity(COLUMNS);
        let all = (total < ONE_FRAME_BELOW).then(|| compress(&self.raw.0.concat())).flatten();
        let one_frame = all.is_some();
        let mut body = all.unwrap_or_default();
        for raw in &self.raw.0 {
            if one_frame {
                lengths.push((raw.len(), raw.len()));
                continue;
            }
            let frame = if raw.len() < MIN_FRAME { None } else { compress(raw) };
            let stored = frame.as_ref().filter(|frame| frame.len() < raw.len()).unwrap_or(raw);
            lengths.push((raw.len(), stored.len()));
            body.extend_from_slice(stored);
        }
        let header = Header {
            sealed,
            one_frame,
            clicks,
            sections: shape.sections,
            runs: shape.runs,
            first,
            last,
            visitors: shape.visitors,
            base: shape.base,
            fresh: shape.fresh,
        };
        let mut data = Vec::with_capacity(body.len() + 160);
        header.write(&lengths, &mut data);
        data.extend_from_slice(&body);
        set_checksum(&mut data);
        data
    }
}

/// Compresses a copy. `None` if zstd fails, which happens only without memory.
pub(crate) fn compress(raw: &[u8]) -> Option<Vec<u8>> {
    ZSTD.with_borrow_mut(|zstd| zstd.as_mut()?.compress(raw).ok())
}

fn new_compressor() -> Option<Compressor<'static>> {
    let mut zstd = Compressor::new(LEVEL).ok()?;
    // The directory has the lengths, and the preamble a checksum.
    zstd.include_contentsize(false).ok()?;
    zstd.include_checksum(false).ok()?;
    Some(zstd)
}

/// Codes of few values share bytes. Larger codes are split: the lowest bytes, then the second, then the
/// third.
fn put_codes(codes: &[u32], values: u32, out: &mut Vec<u8>) {
    if values <= 1 {
        return;
    }
    if let Some(bits) = packed_bits(index(values)) {
        put_packed(codes.iter().copied(), bits, out);
        return;
    }
    for (plane, below) in [(0, 1), (1, 1 << 8), (2, 1 << 16)] {
        if values > below {
            out.extend(codes.iter().map(|code| code.to_le_bytes().get(plane).copied().unwrap_or(0)));
        }
    }
}

/// Appends numbers of this many bits each, the first in the lowest bits of the first byte.
fn put_packed(numbers: impl Iterator<Item = u32>, bits: u32, out: &mut Vec<u8>) {
    let (mut byte, mut used) = (0_u32, 0);
    for number in numbers {
        byte |= number << used;
        used += bits;
        if used == 8 {
            out.push(byte.to_le_bytes()[0]);
            (byte, used) = (0, 0);
        }
    }
    if used > 0 {
        out.push(byte.to_le_bytes()[0]);
    }
}
