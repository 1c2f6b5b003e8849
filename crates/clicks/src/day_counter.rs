//! Counts the clicks of one day.

use signpost_domain::LinkKind;
use signpost_domain::analytics::{ClickSelection, Counts, Dimension, Report, UtcDay};

use crate::MalformedSegment;
use crate::columns::{Visitor, link_order};
use crate::day_cuts::DayCuts;
use crate::decoded_segment::{Kinds, read_references, read_visitors};
use crate::dimension_of_day::{DimensionOfDay, KindOfRows, OrderOfLinks};
use crate::distinct::{DistinctPairs, NONE, Numbering, VisitorNumbers};
use crate::numbers::{index, number, sum};
use crate::row_selection::{FoundLinks, RowSelection};
use crate::segment_format::Column;
use crate::segment_reader::{Decoder, Segment};
use crate::tally::Tally;

/// How many runs of a day are kept from planning to counting, about 14 MiB. Runs of larger days are read
/// again.
const MAX_RUNS_KEPT: usize = 200_000;

/// Counts day after day, and reuses its memory.
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
    number_by_index: Vec<u32>,
    room: Vec<u8>,
    array_bytes: u64,
}

/// A day to count.
pub(crate) struct DayQuery<'a> {
    /// The selected clicks.
    pub(crate) selection: &'a ClickSelection,
    /// The date.
    pub(crate) date: UtcDay,
    /// The pieces of the day.
    pub(crate) cuts: &'a DayCuts,
}

/// What one pass over a day counts besides dimensions.
struct PassSums<'a> {
    report: &'a mut Report,
    /// Distinct visitors of the day, in this pass.
    visitors: u64,
    /// Whether this pass counts rows, and not only visitors.
    first: bool,
    /// Whether this is the only pass.
    only: bool,
    /// Whether all clicks of a link are contiguous.
    links_in_order: bool,
}

impl PassSums<'_> {
    const fn order_of_links(&self) -> OrderOfLinks {
        match (self.links_in_order, self.only) {
            (true, true) => OrderOfLinks::Once,
            (true, false) => OrderOfLinks::InEachPass,
            (false, _) => OrderOfLinks::Any,
        }
    }
}

impl DayCounter {
    /// Counts these dimensions. Arrays of visitors may take this many bytes.
    pub(crate) fn new(dimensions: &[Dimension], array_bytes: u64) -> Self {
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
            number_by_index: Vec::new(),
            room: Vec::new(),
            array_bytes: array_bytes.max(1),
        }
    }

    /// Counts a day from its segments.
    pub(crate) fn count(
        &mut self,
        day: &DayQuery<'_>,
        segments: &[impl AsRef<[u8]>],
        report: &mut Report,
        tallies: &mut [Tally],
    ) -> Result<(), MalformedSegment> {
        let mut plan = self.plan(day, segments)?;
        for pass in 0..plan.passes {
            self.numbers.begin(plan.numbering, pass, plan.passes);
            self.totals.reset(plan.visitors);
            if day.cuts.pieces().len() > 1 {
                self.pieces.reset(plan.visitors);
            }
            for dimension in &mut self.dimensions {
                dimension.reset(plan.visitors);
            }
            let mut sums = PassSums {
                report,
                visitors: 0,
                first: pass == 0,
                only: plan.passes == 1,
                links_in_order: plan.links_in_order,
            };
            for of_day in &mut plan.segments {
                let Some(data) = segments.get(of_day.at) else { continue };
                let segment = Segment::open(data.as_ref(), &mut self.decoder)?;
                if let Some(found) = of_day.found.take() {
                    self.selection.restore(found);
                } else {
                    self.selection.find_links(&segment, day.selection, day.date, &mut self.decoder)?;
                }
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
        day: &DayQuery<'_>,
        segments: &[impl AsRef<[u8]>],
    ) -> Result<DayPlan, MalformedSegment> {
        let (first, last) = day.cuts.window();
        let begin = day.date.first().unix_millis();
        let (first, last) = (begin + i64::from(first), begin + i64::from(last));
        let mut plan = DayPlan {
            segments: Vec::new(),
            links_in_order: true,
            numbering: Numbering::Index,
            passes: 1,
            visitors: 0,
        };
        let (mut rows, mut ordinals, mut visitors, mut all_sealed) = (0_usize, 0_usize, 0_usize, true);
        let mut runs = 0;
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
            let ends = self.selection.links.first().zip(self.selection.links.last());
            let Some((first_link, last_link)) = ends else { continue };
            let (first_link, last_link) = (link_order(first_link.link), link_order(last_link.link));
            runs += self.selection.runs();
            let kept = (runs <= MAX_RUNS_KEPT).then(|| self.selection.take_found());
            plan.segments.push(SegmentOfDay { at, first_link, last_link, found: kept });
            rows += index(found);
            visitors += header.visitors.min(index(found));
            all_sealed &= header.sealed;
            ordinals = ordinals.max(index(header.base) + index(header.fresh));
            plan.visitors = header.visitors;
        }
        plan.segments.sort_by_key(|segment| segment.first_link);
        plan.links_in_order = plan.segments.is_sorted_by(|one, next| one.last_link <= next.first_link);
        let arrays = 4 * (2 + sum(self.dimensions.len()));
        let mut bytes_each = arrays;
        if plan.segments.len() > 1 {
            // Ordinals span the whole day, so arrays of them waste memory if few are selected.
            if all_sealed && ordinals <= rows.saturating_mul(8) {
                (plan.numbering, visitors) = (Numbering::Ordinals, ordinals);
            } else {
                plan.numbering = Numbering::Appearance;
                bytes_each += 24;
            }
            plan.visitors = visitors;
        }
        plan.passes = (sum(plan.visitors) * bytes_each).div_ceil(self.array_bytes).max(1);
        if plan.passes > 1 || plan.numbering == Numbering::Appearance {
            // Arrays grow as visitors appear.
            plan.visitors = 0;
        }
        Ok(plan)
    }

    /// Counts the rows of the links that were found.
    fn count_segment(
        &mut self,
        segment: &Segment<'_>,
        day: &DayQuery<'_>,
        sums: &mut PassSums<'_>,
    ) -> Result<(), MalformedSegment> {
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
                None => dimension.count_links(&self.selection.links, rows, sums.first, sums.order_of_links()),
            }
        }
        Ok(())
    }

    /// Counts the rows of each kind, and keeps clicks and widget clicks.
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
        if selection.pieces.is_empty() {
            let mut counts = [0; 4];
            for row in &selection.rows {
                self.clicks.take(*row, kinds.of(index(*row)), None, &mut self.widgets, &mut counts);
            }
            if let Some(of_piece) = counted.get_mut(selection.piece) {
                *of_piece = counts;
            }
        }
        for (row, piece) in selection.rows.iter().zip(&selection.pieces) {
            let Some(counts) = counted.get_mut(index(*piece)) else { continue };
            self.clicks.take(*row, kinds.of(index(*row)), Some(*piece), &mut self.widgets, counts);
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
        self.number_by_index.clear();
        self.number_by_index.resize(self.visitors.len(), NONE);
        let (numbers, visitors, by_index) = (&mut self.numbers, &self.visitors, &mut self.number_by_index);
        for rows in [&mut self.clicks, &mut self.widgets] {
            rows.visitors.clear();
            rows.visitors.extend(rows.rows.iter().map(|row| {
                let at = self.references.get(index(*row)).copied().unwrap_or(NONE);
                match (by_index.get_mut(index(at)), visitors.get(index(at))) {
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
                && let Some(new) = new.get_mut(index(piece))
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

/// A segment with clicks to count.
struct SegmentOfDay {
    /// Its index among all segments.
    at: usize,
    /// The first and the last of the selected links.
    first_link: (u128, LinkKind),
    last_link: (u128, LinkKind),
    /// Its links, for the first pass.
    found: Option<FoundLinks>,
}

/// How to count a day.
struct DayPlan {
    /// In the order of their first links.
    segments: Vec<SegmentOfDay>,
    /// Whether all clicks of a link are contiguous, as in sealed days without late clicks.
    links_in_order: bool,
    numbering: Numbering,
    passes: u64,
    /// The number of visitors for which arrays are allocated.
    visitors: usize,
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
