//! The sums of a digest: an account's or a link's clicks of one day, added some at a time.

use signpost_domain::analytics::{Dimension, UtcDay};

use crate::columns::{Columns, Visitor};
use crate::digest::{
    Digest, DigestScope, HOURS, MAX_VALUES_OF_DIGEST, QUARTER_MILLIS, QUARTERS, write_digest,
};
use crate::distinct::{DistinctPairs, NONE, Numbering, VisitorNumbers};
use crate::numbers::{index, put, put_count, sum};
use crate::segment_format::DIMENSIONS;
use crate::tables::{Renumbering, ValueTable};
use crate::tally::ValueSums;

/// About how many bytes a visitor takes in the arrays of a pass.
const BYTES_OF_VISITOR: usize = 24 + 16 + 4 * DIMENSIONS;

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

/// The visitor of each row that is added.
#[derive(Debug, Default)]
struct RowVisitors {
    of_columns: Renumbering,
    known: Vec<u32>,
    visitors: Vec<u32>,
}

#[derive(Debug, Default)]
struct DimensionSums {
    values: ValueTable,
    sums: Vec<ValueSums>,
    pairs: DistinctPairs,
    /// Whether it has more values than a digest may have.
    has_too_many: bool,
    of_columns: Renumbering,
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

    /// Adds rows of columns.
    pub(crate) fn add(&mut self, columns: &Columns, rows: &[u32]) {
        self.rows.find(columns, rows, &mut self.numbers);
        self.add_quarters(columns, rows);
        let is_first = self.pass.0 == 0;
        for (at, (dimension, sums)) in Dimension::RECORDED.into_iter().zip(&mut self.dimensions).enumerate() {
            let counted = u8::from(dimension == Dimension::Widget) * 3;
            sums.add(columns, at, rows.iter().zip(&self.rows.visitors), counted, is_first);
        }
    }

    /// Visits and visitors by quarter hours.
    fn add_quarters(&mut self, columns: &Columns, rows: &[u32]) {
        for (row, visitor) in rows.iter().map(|row| index(*row)).zip(&self.rows.visitors) {
            let quarter = columns.time.get(row).map_or(0, |time| time / QUARTER_MILLIS);
            let kind = columns.kind.get(row).copied().unwrap_or(0);
            if self.pass.0 == 0
                && let Some(visits) = self.visits.get_mut(usize::from(kind))
            {
                add_one(visits, quarter);
            }
            if kind == 0 && *visitor != NONE {
                let visitor = index(*visitor);
                if visitor >= self.clicked.len() {
                    self.clicked.resize(visitor + 1, 0);
                }
                if let Some(clicked) = self.clicked.get_mut(visitor) {
                    *clicked |= 1 << quarter;
                }
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
            (dimension.of_columns, dimension.known) = (Renumbering::default(), Vec::new());
        }
        self.begin_pass(self.pass);
    }

    /// The digest, after the last pass.
    pub(crate) fn digest(&self, scope: DigestScope, day: UtcDay) -> Digest {
        let mut quarters = Vec::new();
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
    /// Finds the number of the visitor of each row; [`NONE`] if another pass counts it.
    fn find(&mut self, columns: &Columns, rows: &[u32], numbers: &mut VisitorNumbers) {
        let Self { of_columns, known, visitors } = self;
        let keys: &[Visitor] = columns.visitors.keys();
        of_columns.begin(keys.len());
        known.clear();
        visitors.clear();
        visitors.extend(rows.iter().map(|row| {
            let visitor = columns.visitor.get(index(*row)).copied().unwrap_or(0);
            let (number, is_new) = of_columns.number(visitor);
            if is_new {
                known.push(keys.get(index(visitor)).map_or(NONE, |key| numbers.number(*key, NONE)));
            }
            known.get(index(number)).copied().unwrap_or(NONE)
        }));
    }
}

impl DimensionSums {
    fn add<'a>(
        &mut self,
        columns: &Columns,
        at: usize,
        rows: impl Iterator<Item = (&'a u32, &'a u32)>,
        counted: u8,
        is_first: bool,
    ) {
        let (Some(table), Some(column)) = (columns.values.get(at), columns.value.get(at)) else { return };
        if self.has_too_many {
            return;
        }
        self.of_columns.begin(table.len());
        self.known.clear();
        for (row, visitor) in rows.map(|(row, visitor)| (index(*row), *visitor)) {
            if columns.kind.get(row) != Some(&counted) {
                continue;
            }
            let value = column.get(row).copied().unwrap_or(0);
            let (number, is_new) = self.of_columns.number(value);
            if is_new {
                self.known.push(self.values.number(table.value(value)));
                if self.values.len() > MAX_VALUES_OF_DIGEST {
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
        let mut frame = Vec::new();
        if self.has_too_many {
            return frame;
        }
        let mut values: Vec<(&str, ValueSums)> =
            (0..).zip(&self.sums).map(|(value, sums)| (self.values.value(value), *sums)).collect();
        values.sort_unstable_by_key(|(value, _)| *value);
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

fn add_one(counts: &mut [u64], at: u32) {
    if let Some(count) = counts.get_mut(index(at)) {
        *count += 1;
    }
}
