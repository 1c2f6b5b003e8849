//! Counts the clicks of one day, segment by segment. The first round over the segments plans, the others count.

use signpost_domain::analytics::{
    ClickSelection, Counts, Dimension, DimensionFilter, RecordedKind, Report, UtcDay,
};

use crate::MalformedSegment;
use crate::columns::{Visitor, link_order};
use crate::day_cuts::DayCuts;
use crate::day_pass::{Pass, PassSums};
use crate::day_plan::{BYTES_OF_NUMBER, DayPlan, SegmentOfDay, bytes_of_visitor};
use crate::decoded_segment::{Kinds, read_references, read_visitors};
use crate::dimension_of_day::{DimensionOfDay, KindOfRows};
use crate::distinct::{DistinctPairs, NONE, VisitorNumbers};
use crate::numbers::{index, number, sum};
use crate::rounds::Round;
use crate::row_selection::RowSelection;
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
    plan: DayPlan,
    /// The pass that counts now; `None` while the first round plans.
    pass: Option<Pass>,
    /// The index of the next segment of this round.
    next: usize,
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

impl<'a> DayQuery<'a> {
    /// What selects links.
    fn links(&self) -> (&'a ClickSelection, &'a [DimensionFilter]) {
        (self.selection, &self.selection.filters)
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
            plan: DayPlan::default(),
            pass: None,
            next: 0,
        }
    }

    /// Counts a day from all its segments.
    pub(crate) fn count(
        &mut self,
        day: &DayQuery<'_>,
        segments: &[impl AsRef<[u8]>],
        report: &mut Report,
        tallies: &mut [Tally],
    ) -> Result<(), MalformedSegment> {
        self.begin();
        for segment in segments {
            self.add(day, segment.as_ref(), report)?;
        }
        // In the order of their links, the clicks of a link are contiguous on sealed days.
        let order = self.plan.by_first_link();
        self.plan.links_in_order = self.plan.is_in_order(&order);
        let mut round = self.end_planning(day);
        while round == Round::Again {
            for at in &order {
                self.next = *at;
                if let Some(segment) = segments.get(*at) {
                    self.add(day, segment.as_ref(), report)?;
                }
            }
            round = self.end_pass(day, report, tallies);
        }
        Ok(())
    }

    /// Begins a day whose segments are added in rounds.
    pub(crate) fn begin(&mut self) {
        self.plan = DayPlan::default();
        (self.pass, self.next) = (None, 0);
    }

    /// Adds the next segment of a round. Each round has the same segments in the same order.
    pub(crate) fn add(
        &mut self,
        day: &DayQuery<'_>,
        segment: &[u8],
        report: &mut Report,
    ) -> Result<(), MalformedSegment> {
        let at = self.next;
        self.next += 1;
        let Some(Pass { number, visitors }) = self.pass else {
            let planned = self.plan_segment(day, segment)?;
            self.plan.segments.push(planned);
            return Ok(());
        };
        let Some(Some(of_day)) = self.plan.segments.get_mut(at) else { return Ok(()) };
        let found = of_day.found.take();
        let mut sums = PassSums {
            report,
            visitors,
            first: number == 0,
            only: self.plan.passes == 1,
            links_in_order: self.plan.links_in_order,
        };
        let segment = Segment::open(segment, &mut self.decoder)?;
        if let Some(found) = found {
            self.selection.restore(found);
        } else {
            self.selection.find_links(&segment, day.links(), day.date, &mut self.decoder)?;
        }
        self.count_segment(&segment, day, &mut sums)?;
        self.pass = Some(Pass { number, visitors: sums.visitors });
        Ok(())
    }

    /// Ends a round.
    pub(crate) fn end_round(
        &mut self,
        day: &DayQuery<'_>,
        report: &mut Report,
        tallies: &mut [Tally],
    ) -> Round {
        if self.pass.is_some() {
            return self.end_pass(day, report, tallies);
        }
        let order: Vec<usize> = (0..self.plan.segments.len()).collect();
        self.plan.links_in_order = self.plan.is_in_order(&order);
        self.end_planning(day)
    }

    fn end_planning(&mut self, day: &DayQuery<'_>) -> Round {
        let dimensions: Vec<Dimension> = self.dimensions.iter().map(|counted| counted.dimension).collect();
        if !self.plan.decide(&dimensions, self.array_bytes) {
            return Round::Done;
        }
        self.begin_pass(0, day);
        Round::Again
    }

    fn begin_pass(&mut self, pass: u64, day: &DayQuery<'_>) {
        let plan = &self.plan;
        self.numbers.begin(plan.numbering, pass, plan.passes);
        self.totals.reset(plan.visitors);
        if day.cuts.pieces().len() > 1 {
            self.pieces.reset(plan.visitors);
        }
        for dimension in &mut self.dimensions {
            dimension.reset(plan.visitors);
        }
        self.pass = Some(Pass { number: pass, visitors: 0 });
        self.next = 0;
    }

    fn end_pass(&mut self, day: &DayQuery<'_>, report: &mut Report, tallies: &mut [Tally]) -> Round {
        let Some(Pass { number, visitors }) = self.pass else { return Round::Done };
        report.totals.visitors += visitors;
        if let [piece] = day.cuts.pieces()
            && let Some(bucket) = report.series.get_mut(piece.bucket)
        {
            bucket.visitors += visitors;
        }
        if number + 1 < self.plan.passes {
            self.begin_pass(number + 1, day);
            return Round::Again;
        }
        for (dimension, tally) in self.dimensions.iter_mut().zip(tallies) {
            dimension.finish(tally);
        }
        Round::Done
    }

    /// What a segment has for the question; `None` if nothing.
    fn plan_segment(
        &mut self,
        day: &DayQuery<'_>,
        segment: &[u8],
    ) -> Result<Option<SegmentOfDay>, MalformedSegment> {
        let segment = Segment::open(segment, &mut self.decoder)?;
        if !segment.may_have_clicks(day.date, day.cuts.window()) {
            return Ok(None);
        }
        let header = segment.header;
        let found = self.selection.find_links(&segment, day.links(), day.date, &mut self.decoder)?;
        let ends = self.selection.links.first().zip(self.selection.links.last());
        let Some((first_link, last_link)) = ends.filter(|_| found > 0) else { return Ok(None) };
        let (first_link, last_link) = (link_order(first_link.link), link_order(last_link.link));
        let plan = &mut self.plan;
        plan.runs += self.selection.runs();
        let kept = (plan.runs <= MAX_RUNS_KEPT).then(|| self.selection.take_found());
        plan.rows += index(found);
        let one_pass = self.array_bytes / (bytes_of_visitor(sum(self.dimensions.len())) + BYTES_OF_NUMBER);
        let one_pass = usize::try_from(one_pass).unwrap_or(usize::MAX);
        plan.bound.add(header.visitors.min(index(found)), one_pass, |distinct| {
            let column = segment.column(Column::Visitors, &mut self.decoder, &mut self.room)?;
            read_visitors(column, &header, &mut self.visitors)?;
            self.visitors.iter().for_each(|visitor| distinct.add(*visitor));
            Ok::<(), MalformedSegment>(())
        })?;
        plan.has_hashes |= !header.sealed;
        plan.ordinals = plan.ordinals.max(index(header.base) + index(header.fresh));
        plan.visitors = header.visitors;
        Ok(Some(SegmentOfDay { first_link, last_link, found: kept }))
    }

    /// Counts the rows of the links that were found.
    fn count_segment(
        &mut self,
        segment: &Segment<'_>,
        day: &DayQuery<'_>,
        sums: &mut PassSums<'_>,
    ) -> Result<(), MalformedSegment> {
        let filters = &day.selection.filters;
        self.selection.select(segment, filters, (day.date, day.cuts), false, &mut self.decoder)?;
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
            let rows = match dimension.dimension.counted_kind() {
                RecordedKind::Widget => &self.widgets,
                RecordedKind::Click | RecordedKind::Bot | RecordedKind::Blocked => &self.clicks,
            };
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

/// Adds counts of rows to a bucket or to the totals.
pub(crate) fn add_rows(counts: &mut Counts, clicks: u64, bots: u64, blocked: u64) {
    counts.clicks += clicks;
    counts.bots += bots;
    counts.blocked += blocked;
}

fn count_new(visitors: &[u32], seen: &mut DistinctPairs) -> usize {
    visitors.iter().filter(|visitor| **visitor != NONE && seen.add(**visitor, 0)).count()
}
