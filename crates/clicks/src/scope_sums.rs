//! The sums of a digest: an account's or a link's clicks of one day, added some at a time.

use signpost_domain::analytics::{Dimension, UtcDay};

use crate::click_rows::{ClickRows, DimensionRows};
use crate::columns::kind_number;
use crate::digest::{
    Digest, DigestScope, HOURS, MAX_TEXT_OF_DIGEST, MAX_VALUES_OF_DIGEST, QUARTER_MILLIS, QUARTERS,
    write_digest,
};
use crate::distinct::{DistinctPairs, NONE, Numbering, VisitorNumbers};
use crate::numbers::{index, put, put_count, sum};
use crate::segment_format::DIMENSIONS;
use crate::tables::{Renumbering, ValueTable};
use crate::tally::ValueSums;

/// About how many bytes a visitor takes in the arrays of a pass.
const BYTES_OF_VISITOR: usize = 24 + 16 + 4 * DIMENSIONS;

/// A visitor who has several values of a dimension takes some 18 bytes more for each. Strangers can invent such visitors.
const MAX_FURTHER_PAIRS: usize = 1_000_000;

/// In how many passes this many visitors are counted, so that the arrays take at most about `bytes`.
pub(crate) fn passes_of(visitors: u64, bytes: u64) -> u64 {
    visitors.saturating_mul(sum(BYTES_OF_VISITOR)).div_ceil(bytes.max(1)).max(1)
}

/// How many visitors a pass counts whose arrays take at most about `bytes`.
pub(crate) fn visitors_of_pass(bytes: u64) -> usize {
    usize::try_from(bytes / sum(BYTES_OF_VISITOR)).unwrap_or(usize::MAX)
}

/// The sums of a scope, and what is known of the visitors whom the current pass counts.
#[derive(Debug)]
pub(crate) struct ScopeSums {
    visits: [[u64; QUARTERS]; 3],
    first_clicks: [u64; QUARTERS],
    last_clicks: [u64; QUARTERS],
    hours: [u64; HOURS],
    dimensions: [DimensionSums; DIMENSIONS],
    /// The pass, and the number of passes.
    pass: (u64, u64),
    numbers: VisitorNumbers,
    /// The quarter hours in which each visitor clicked, as bits.
    clicked: Vec<u128>,
    rows: RowVisitors,
}

/// The rows that are added, each with its visitor; [`NONE`] if another pass counts the visitor.
#[derive(Debug, Default)]
struct RowVisitors {
    of_clicks: Renumbering,
    known: Vec<u32>,
    found: Vec<(u32, u32)>,
}

#[derive(Debug, Default)]
struct DimensionSums {
    values: ValueTable,
    sums: Vec<ValueSums>,
    pairs: DistinctPairs,
    /// Whether it has more values than a digest may have.
    has_too_many: bool,
    of_clicks: Renumbering,
    known: Vec<u32>,
}

impl Default for ScopeSums {
    fn default() -> Self {
        Self::new()
    }
}

impl ScopeSums {
    /// Starts without clicks.
    pub(crate) fn new() -> Self {
        Self {
            visits: [[0; QUARTERS]; 3],
            first_clicks: [0; QUARTERS],
            last_clicks: [0; QUARTERS],
            hours: [0; HOURS],
            dimensions: Default::default(),
            pass: (0, 1),
            numbers: VisitorNumbers::new(),
            clicked: Vec::new(),
            rows: RowVisitors::default(),
        }
    }

    /// Starts again without clicks, which are then added once in each of this many passes, and keeps the memory.
    pub(crate) fn begin(&mut self, passes: u64) {
        self.visits = [[0; QUARTERS]; 3];
        (self.first_clicks, self.last_clicks, self.hours) = ([0; QUARTERS], [0; QUARTERS], [0; HOURS]);
        for dimension in &mut self.dimensions {
            dimension.values.clear();
            dimension.sums.clear();
            dimension.has_too_many = false;
        }
        self.begin_pass((0, passes));
    }

    fn begin_pass(&mut self, pass: (u64, u64)) {
        self.pass = pass;
        self.numbers.begin(Numbering::Appearance, pass.0, pass.1);
        self.clicked.clear();
        for dimension in &mut self.dimensions {
            dimension.pairs.reset(0);
        }
    }

    /// Adds some of the clicks of a scope.
    pub(crate) fn add(&mut self, scope: DigestScope, clicks: &ClickRows<'_>, rows: &[u32]) {
        let is_first = self.pass.0 == 0;
        if is_first {
            self.add_visits(clicks, rows);
        }
        self.rows.find(clicks, rows, &mut self.numbers, is_first);
        self.add_visitors(clicks);
        let mut pairs: usize = self.dimensions.iter().map(|sums| sums.pairs.further()).sum();
        let of_dimensions = Dimension::RECORDED.into_iter().zip(&mut self.dimensions).zip(&clicks.dimensions);
        for ((dimension, sums), of_clicks) in of_dimensions {
            let dimension = if dimension == Dimension::Widget { scope.last_dimension() } else { dimension };
            let counted = kind_number(dimension.counted_kind());
            pairs -= sums.pairs.further();
            sums.add(*of_clicks, clicks.kind, &self.rows.found, counted, is_first);
            pairs += sums.pairs.further();
            if pairs > MAX_FURTHER_PAIRS {
                // Questions about this dimension read the segments.
                pairs -= sums.pairs.further();
                (sums.has_too_many, sums.pairs) = (true, DistinctPairs::default());
            }
        }
    }

    /// Visits by quarter hours.
    fn add_visits(&mut self, clicks: &ClickRows<'_>, rows: &[u32]) {
        for row in rows.iter().map(|row| index(*row)) {
            let kind = clicks.kind.get(row).copied().unwrap_or(0);
            if let Some(visits) = self.visits.get_mut(usize::from(kind)) {
                add_one(visits, quarter_of(clicks, row));
            }
        }
    }

    /// The quarter hours of visitors.
    fn add_visitors(&mut self, clicks: &ClickRows<'_>) {
        for (row, visitor) in &self.rows.found {
            if *visitor == NONE || clicks.kind.get(index(*row)) != Some(&0) {
                continue;
            }
            let (row, visitor) = (index(*row), index(*visitor));
            if visitor >= self.clicked.len() {
                self.clicked.resize(visitor + 1, 0);
            }
            if let Some(clicked) = self.clicked.get_mut(visitor) {
                *clicked |= 1 << quarter_of(clicks, row);
            }
        }
    }

    /// Ends a pass, and begins the next. Returns whether it was the last one.
    pub(crate) fn end_pass(&mut self) -> bool {
        // Visitors who only clicked a widget, for instance, have a number but no clicks.
        for clicked in self.clicked.iter().filter(|clicked| **clicked != 0) {
            add_one(&mut self.first_clicks, clicked.trailing_zeros());
            add_one(&mut self.last_clicks, clicked.checked_ilog2().unwrap_or(0));
            let mut hours_left = clicked | clicked >> 1 | clicked >> 2 | clicked >> 3;
            while hours_left != 0 {
                add_one(&mut self.hours, hours_left.trailing_zeros());
                hours_left &= hours_left - 1;
            }
        }
        let (pass, passes) = self.pass;
        self.begin_pass((pass + 1, passes));
        pass + 1 >= passes
    }

    /// Gives back the memory of the pass, but keeps the sums.
    pub(crate) fn release_arrays(&mut self) {
        self.numbers = VisitorNumbers::new();
        self.clicked = Vec::new();
        self.rows = RowVisitors::default();
        for dimension in &mut self.dimensions {
            dimension.pairs = DistinctPairs::default();
            (dimension.of_clicks, dimension.known) = (Renumbering::default(), Vec::new());
        }
        self.begin_pass(self.pass);
    }

    /// The digest, after the last pass.
    pub(crate) fn digest(&self, scope: DigestScope, day: UtcDay) -> Digest {
        let mut quarters = Vec::with_capacity(1_024);
        let numbers = self.visits.iter().flatten().chain(&self.first_clicks).chain(&self.last_clicks);
        for number in numbers.chain(&self.hours) {
            put(&mut quarters, *number);
        }
        let mut frames = vec![quarters];
        frames.extend(self.dimensions.iter().map(DimensionSums::frame));
        write_digest(scope, day, &frames)
    }
}

impl RowVisitors {
    /// Finds the visitors of rows. Rows whose visitor another pass counts are only needed in the first.
    fn find(&mut self, clicks: &ClickRows<'_>, rows: &[u32], numbers: &mut VisitorNumbers, is_first: bool) {
        let Self { of_clicks, known, found } = self;
        of_clicks.begin(clicks.visitors.len());
        known.clear();
        found.clear();
        found.reserve(if is_first { rows.len() } else { 0 });
        known.reserve(clicks.visitors.len().min(rows.len()));
        found.extend(rows.iter().filter_map(|row| {
            let visitor = clicks.visitor.get(index(*row)).copied().unwrap_or(0);
            let (number, is_new) = of_clicks.number(visitor);
            if is_new {
                let key = clicks.visitors.get(index(visitor));
                known.push(key.map_or(NONE, |key| numbers.number(*key, NONE)));
            }
            let visitor = known.get(index(number)).copied().unwrap_or(NONE);
            (is_first || visitor != NONE).then_some((*row, visitor))
        }));
    }
}

impl DimensionSums {
    /// Adds the rows of the counted kind, with the visitor of each.
    fn add(
        &mut self,
        DimensionRows { dictionary, value }: DimensionRows<'_>,
        kind: &[u8],
        rows: &[(u32, u32)],
        counted: u8,
        is_first: bool,
    ) {
        if self.has_too_many {
            return;
        }
        self.of_clicks.begin(dictionary.count());
        self.known.clear();
        // A link has hardly more values than clicks.
        let values = dictionary.count().min(rows.len());
        self.values.make_room(values);
        self.known.reserve(values);
        for (row, visitor) in rows.iter().map(|(row, visitor)| (index(*row), *visitor)) {
            if kind.get(row) != Some(&counted) {
                continue;
            }
            let value = value.get(row).copied().unwrap_or(0);
            let (number, is_new) = self.of_clicks.number(value);
            if is_new {
                self.known.push(self.values.number(dictionary.value(value)));
                if self.values.len() > MAX_VALUES_OF_DIGEST || self.values.text_len() > MAX_TEXT_OF_DIGEST {
                    self.has_too_many = true;
                    return;
                }
                self.sums.resize(self.values.len(), ValueSums::default());
            }
            let value = self.known.get(index(number)).copied().unwrap_or(NONE);
            if let Some(sums) = self.sums.get_mut(index(value)) {
                sums.clicks += u64::from(is_first);
                sums.visitors += u64::from(visitor != NONE && self.pairs.add(visitor, value));
            }
        }
    }

    /// The values in order. Empty if there are too many.
    fn frame(&self) -> Vec<u8> {
        if self.has_too_many {
            return Vec::new();
        }
        let mut values: Vec<(&str, ValueSums)> =
            (0..).zip(&self.sums).map(|(value, sums)| (self.values.value(value), *sums)).collect();
        values.sort_unstable_by_key(|(value, _)| *value);
        let mut frame = Vec::with_capacity(self.values.text_len() + 4 * values.len() + 2);
        put_count(&mut frame, values.len());
        for (value, sums) in values {
            put_count(&mut frame, value.len());
            frame.extend_from_slice(value.as_bytes());
            put(&mut frame, sums.clicks);
            put(&mut frame, sums.clicks - sums.visitors);
        }
        frame
    }
}

fn quarter_of(clicks: &ClickRows<'_>, row: usize) -> u32 {
    clicks.time.get(row).map_or(0, |time| time / QUARTER_MILLIS)
}

fn add_one(counts: &mut [u64], at: u32) {
    if let Some(count) = counts.get_mut(index(at)) {
        *count += 1;
    }
}
