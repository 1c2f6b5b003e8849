//! Counts the clicks of one day.

use signpost_domain::LinkId;
use signpost_domain::analytics::{ClickSelection, Counts, Dimension, Report, UtcDay};

use crate::MalformedSegment;
use crate::columns::Visitor;
use crate::day_cuts::DayCuts;
use crate::decoded_segment::{Codes, Kinds, each_value, packed, read_references, read_visitors};
use crate::distinct::{DistinctPairs, NONE, Numbering, VisitorNumbers};
use crate::numbers::{number, place, sum};
use crate::row_selection::{LinkRows, RowSelection};
use crate::segment_format::Column;
use crate::segment_reader::{Decoder, Segment};
use crate::tables::{KeyTable, ValueTable};
use crate::tally::{Tally, ValueSums};

/// What the arrays of one pass may take, in bytes.
const PASS_BYTES: u64 = 20 << 20;

/// Counts day after day, and keeps its memory.
#[derive(Debug)]
pub(crate) struct DayCounter {
    decoder: Decoder,
    selection: RowSelection,
    numbers: VisitorNumbers,
    totals: DistinctPairs,
    pieces: DistinctPairs,
    dimensions: Vec<DimensionOfDay>,
    clicks: KindOfRows,
    widgets: KindOfRows,
    references: Vec<u32>,
    visitors: Vec<Visitor>,
    number_by_place: Vec<u32>,
    room: Vec<u8>,
}

/// The selected rows of one kind, with the piece of the day and the visitor of each.
#[derive(Debug, Default)]
struct KindOfRows {
    rows: Vec<u32>,
    pieces: Vec<u32>,
    visitors: Vec<u32>,
}

/// What a day has of a dimension.
#[derive(Debug)]
struct DimensionOfDay {
    dimension: Dimension,
    values: ValueTable,
    links: KeyTable<LinkId>,
    sums: Vec<ValueSums>,
    pairs: DistinctPairs,
    /// The day's number of each value of a segment.
    known: Vec<u32>,
}

/// A day to be counted.
pub(crate) struct WantedDay<'a> {
    /// Which clicks.
    pub(crate) selection: &'a ClickSelection,
    /// Which day.
    pub(crate) date: UtcDay,
    /// How it is cut.
    pub(crate) cuts: &'a DayCuts,
}

/// What one pass over a day adds up beside dimensions.
struct PassSums<'a> {
    report: &'a mut Report,
    /// Distinct visitors of the day, in this pass.
    visitors: u64,
    /// Whether rows are counted, and not visitors alone.
    first: bool,
}

impl DayCounter {
    /// For these dimensions.
    pub(crate) fn new(dimensions: &[Dimension]) -> Self {
        let dimensions = dimensions.iter().map(|dimension| DimensionOfDay::new(*dimension)).collect();
        Self {
            decoder: Decoder::new(),
            selection: RowSelection::default(),
            numbers: VisitorNumbers::new(),
            totals: DistinctPairs::default(),
            pieces: DistinctPairs::default(),
            dimensions,
            clicks: KindOfRows::default(),
            widgets: KindOfRows::default(),
            references: Vec::new(),
            visitors: Vec::new(),
            number_by_place: Vec::new(),
            room: Vec::new(),
        }
    }

    /// Counts a day by its segments.
    pub(crate) fn count(
        &mut self,
        day: &WantedDay<'_>,
        segments: &[impl AsRef<[u8]>],
        report: &mut Report,
        tallies: &mut [Tally],
    ) -> Result<(), MalformedSegment> {
        let plan = self.plan(day, segments)?;
        for pass in 0..plan.passes {
            self.numbers.begin(plan.numbering, pass, plan.passes);
            self.totals.reset(plan.visitors);
            if day.cuts.pieces().len() > 1 {
                self.pieces.reset(plan.visitors);
            }
            for dimension in &mut self.dimensions {
                dimension.pairs.reset(plan.visitors);
            }
            let mut sums = PassSums { report, visitors: 0, first: pass == 0 };
            for at in &plan.segments {
                let Some(data) = segments.get(*at) else { continue };
                let segment = Segment::open(data.as_ref(), &mut self.decoder)?;
                self.count_segment(&segment, day, &mut sums)?;
            }
            let visitors = sums.visitors;
            report.totals.visitors += visitors;
            if let [piece] = day.cuts.pieces()
                && let Some(bucket) = report.series.get_mut(piece.bucket)
            {
                bucket.visitors += visitors;
            }
        }
        for (dimension, tally) in self.dimensions.iter_mut().zip(tallies) {
            dimension.finish(tally);
        }
        Ok(())
    }

    fn plan(
        &mut self,
        day: &WantedDay<'_>,
        segments: &[impl AsRef<[u8]>],
    ) -> Result<DayPlan, MalformedSegment> {
        let (first, last) = day.cuts.window();
        let begin = day.date.first().unix_millis();
        let (first, last) = (begin + i64::from(first), begin + i64::from(last));
        let mut plan = DayPlan { segments: Vec::new(), numbering: Numbering::Places, passes: 1, visitors: 0 };
        let (mut rows, mut ordinals, mut visitors, mut all_sealed) = (0_usize, 0_usize, 0_usize, true);
        for (at, data) in segments.iter().enumerate() {
            let segment = Segment::open(data.as_ref(), &mut self.decoder)?;
            let header = segment.header;
            if header.last < first || last < header.first {
                continue;
            }
            let found = self.selection.find_links(&segment, day.selection, day.date, &mut self.decoder)?;
            if found == 0 {
                continue;
            }
            plan.segments.push(at);
            rows += place(found);
            visitors += header.visitors.min(place(found));
            all_sealed &= header.sealed;
            ordinals = ordinals.max(place(header.base) + place(header.fresh));
            plan.visitors = header.visitors;
        }
        let arrays = 4 * (2 + sum(self.dimensions.len()));
        let mut bytes_each = arrays;
        if plan.segments.len() > 1 {
            // Ordinals are of the whole day, so arrays of them are a waste if few of them are asked for.
            if all_sealed && ordinals <= rows.saturating_mul(8) {
                (plan.numbering, visitors) = (Numbering::Ordinals, ordinals);
            } else {
                plan.numbering = Numbering::Appearance;
                bytes_each += 24;
            }
            plan.visitors = visitors;
        }
        plan.passes = (sum(plan.visitors) * bytes_each).div_ceil(PASS_BYTES).max(1);
        if plan.passes > 1 || plan.numbering == Numbering::Appearance {
            // Arrays grow as visitors appear.
            plan.visitors = 0;
        }
        Ok(plan)
    }

    fn count_segment(
        &mut self,
        segment: &Segment<'_>,
        day: &WantedDay<'_>,
        sums: &mut PassSums<'_>,
    ) -> Result<(), MalformedSegment> {
        self.selection.find_links(segment, day.selection, day.date, &mut self.decoder)?;
        self.selection.select(segment, day.selection, (day.date, day.cuts), false, &mut self.decoder)?;
        if self.selection.rows.is_empty() {
            return Ok(());
        }
        self.split_kinds(segment, day.cuts, sums)?;
        if self.clicks.rows.is_empty() && self.widgets.rows.is_empty() {
            return Ok(());
        }
        self.number_visitors(segment)?;
        sums.visitors += sum(count_new(&self.clicks.visitors, &mut self.totals));
        if day.cuts.pieces().len() > 1 {
            self.count_pieces(day.cuts, sums);
        }
        for dimension in &mut self.dimensions {
            let rows = if dimension.dimension == Dimension::Widget { &self.widgets } else { &self.clicks };
            match dimension.dimension.recorded_place() {
                Some(at) => {
                    dimension.count_values(
                        segment,
                        at,
                        rows,
                        sums.first,
                        &mut self.decoder,
                        &mut self.room,
                    )?;
                }
                None => dimension.count_links(&self.selection.links, rows, sums.first),
            }
        }
        Ok(())
    }

    /// Counts the rows of each kind, and remembers clicks and widgets.
    fn split_kinds(
        &mut self,
        segment: &Segment<'_>,
        cuts: &DayCuts,
        sums: &mut PassSums<'_>,
    ) -> Result<(), MalformedSegment> {
        let kinds = Kinds::read(segment, &mut self.decoder, &mut self.room)?;
        let selection = &self.selection;
        self.clicks.clear();
        self.widgets.clear();
        let mut counted = vec![[0_u64; 4]; cuts.pieces().len()];
        for (at, row) in selection.rows.iter().enumerate() {
            let kind = kinds.of(place(*row));
            let piece = selection.pieces.get(at).copied();
            let counts = counted.get_mut(piece.map_or(selection.piece, place));
            if let Some(count) = counts.and_then(|counts| counts.get_mut(usize::from(kind))) {
                *count += 1;
            }
            match kind {
                0 => self.clicks.push(*row, piece),
                3 => self.widgets.push(*row, piece),
                _ => {}
            }
        }
        if sums.first {
            for (piece, [clicks, bots, blocked, _]) in cuts.pieces().iter().zip(counted) {
                let bucket = sums.report.series.get_mut(piece.bucket);
                for counts in bucket.into_iter().chain([&mut sums.report.totals]) {
                    add_rows(counts, clicks, bots, blocked);
                }
            }
        }
        Ok(())
    }

    fn number_visitors(&mut self, segment: &Segment<'_>) -> Result<(), MalformedSegment> {
        let column = segment.column(Column::VisitorReferences, &mut self.decoder, &mut self.room)?;
        read_references(column, &segment.header, &mut self.references)?;
        let column = segment.column(Column::Visitors, &mut self.decoder, &mut self.room)?;
        read_visitors(column, &segment.header, &mut self.visitors)?;
        self.number_by_place.clear();
        self.number_by_place.resize(self.visitors.len(), NONE);
        let (numbers, visitors, by_place) = (&mut self.numbers, &self.visitors, &mut self.number_by_place);
        for rows in [&mut self.clicks, &mut self.widgets] {
            rows.visitors.clear();
            rows.visitors.extend(rows.rows.iter().map(|row| {
                let at = self.references.get(place(*row)).copied().unwrap_or(NONE);
                match (by_place.get_mut(place(at)), visitors.get(place(at))) {
                    (Some(known), Some(visitor)) => {
                        if *known == NONE {
                            *known = numbers.number(*visitor, at);
                        }
                        *known
                    }
                    _ => NONE,
                }
            }));
        }
        Ok(())
    }

    fn count_pieces(&mut self, cuts: &DayCuts, sums: &mut PassSums<'_>) {
        let mut new = vec![0_u64; cuts.pieces().len()];
        for (at, visitor) in self.clicks.visitors.iter().enumerate() {
            let piece = self.clicks.pieces.get(at).copied().unwrap_or_else(|| number(self.selection.piece));
            if *visitor != NONE
                && self.pieces.add(*visitor, piece)
                && let Some(new) = new.get_mut(place(piece))
            {
                *new += 1;
            }
        }
        for (piece, new) in cuts.pieces().iter().zip(new) {
            if let Some(bucket) = sums.report.series.get_mut(piece.bucket) {
                bucket.visitors += new;
            }
        }
    }
}

/// How a day is counted.
struct DayPlan {
    /// The places of the segments that have clicks to count.
    segments: Vec<usize>,
    numbering: Numbering,
    passes: u64,
    /// For how many visitors arrays are made.
    visitors: usize,
}

impl KindOfRows {
    fn clear(&mut self) {
        self.rows.clear();
        self.pieces.clear();
        self.visitors.clear();
    }

    fn push(&mut self, row: u32, piece: Option<u32>) {
        self.rows.push(row);
        self.pieces.extend(piece);
    }
}

impl DimensionOfDay {
    fn new(dimension: Dimension) -> Self {
        Self {
            dimension,
            values: ValueTable::default(),
            links: KeyTable::default(),
            sums: Vec::new(),
            pairs: DistinctPairs::default(),
            known: Vec::new(),
        }
    }

    fn count_values(
        &mut self,
        segment: &Segment<'_>,
        dimension: usize,
        rows: &KindOfRows,
        first: bool,
        decoder: &mut Decoder,
        room: &mut Vec<u8>,
    ) -> Result<(), MalformedSegment> {
        if rows.rows.is_empty() {
            return Ok(());
        }
        let Self { values, sums, pairs, known, .. } = self;
        known.clear();
        let dictionary = segment.column(Column::Dictionary(dimension), decoder, room)?;
        each_value(dictionary, segment.header.clicks, |value| known.push(values.number(value)))?;
        sums.resize(values.len(), ValueSums::default());
        let column = segment.column(Column::Codes(dimension), decoder, room)?;
        let codes = Codes::new(column, segment.header.clicks, known.len())?;
        let mut add = |code: Option<&u32>, visitor: u32| {
            let value = *code?;
            let sums = sums.get_mut(place(value))?;
            sums.clicks += u64::from(first);
            if visitor != NONE && pairs.add(visitor, value) {
                sums.visitors += 1;
            }
            Some(())
        };
        let mut each = rows.rows.iter().zip(&rows.visitors);
        // One loop for each width of codes keeps the choice out of the loop.
        let counted = match codes {
            Codes::One => each.try_for_each(|(_, visitor)| add(known.first(), *visitor)),
            Codes::Bytes(codes) => each.try_for_each(|(row, visitor)| {
                add(known.get(usize::from(*codes.get(place(*row))?)), *visitor)
            }),
            Codes::Packed(codes, bits) => each.try_for_each(|(row, visitor)| {
                add(known.get(place(packed(codes, bits, place(*row)))), *visitor)
            }),
            Codes::Pairs(..) | Codes::Triples(..) => {
                each.try_for_each(|(row, visitor)| add(known.get(place(codes.of(place(*row)))), *visitor))
            }
        };
        counted.ok_or(MalformedSegment::Value(Column::Codes(dimension).name()))
    }

    fn count_links(&mut self, links: &[LinkRows], rows: &KindOfRows, first: bool) {
        let mut links = links.iter();
        let mut current = None::<(u32, u32)>;
        for (row, visitor) in rows.rows.iter().zip(&rows.visitors) {
            while current.is_none_or(|(_, end)| *row >= end) {
                let Some(next) = links.next() else { return };
                if *row < next.end {
                    let known = self.links.number(next.link);
                    self.sums.resize(self.links.len(), ValueSums::default());
                    current = Some((known, next.end));
                }
            }
            let Some((link, _)) = current else { return };
            if let Some(sums) = self.sums.get_mut(place(link)) {
                sums.clicks += u64::from(first);
                sums.visitors += u64::from(*visitor != NONE && self.pairs.add(*visitor, link));
            }
        }
    }

    fn finish(&mut self, tally: &mut Tally) {
        for (value, sums) in (0..).zip(&self.sums).take(self.values.len()) {
            tally.add_value(self.values.value(value), *sums);
        }
        for (link, sums) in self.links.keys().iter().zip(&self.sums) {
            tally.add_link(*link, *sums);
        }
        self.values.clear();
        self.links.clear();
        self.sums.clear();
    }
}

/// Adds counts of rows to a bucket or to the totals.
pub(crate) fn add_rows(counts: &mut Counts, clicks: u64, bots: u64, blocked: u64) {
    counts.clicks += clicks;
    counts.bots += bots;
    counts.blocked += blocked;
}

fn count_new(visitors: &[u32], seen: &mut DistinctPairs) -> usize {
    visitors.iter().filter(|visitor| **visitor != NONE && seen.add(**visitor, 0)).count()
}
