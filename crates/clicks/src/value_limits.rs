//! Bounds the distinct values of each link, day and dimension (D47).
//!
//! Strangers invent values at no cost, and every node bounds only those that it records itself. So the bound is applied
//! again wherever clicks of a whole day, or of several nodes, come together.

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use signpost_domain::analytics::{MAX_KEPT_VALUES, OTHER_VALUES};

use crate::columns::{Columns, Run};
use crate::numbers::index;
use crate::segment_format::DIMENSIONS;
use crate::tables::{Renumbering, ValueTable};

/// Replaces all but the first values of each link, day and dimension with [`OTHER_VALUES`]. `order` has the rows in the order
/// of segments.
///
/// It looks only at links with more clicks than values are kept, and only at dimensions with more values than that.
pub(crate) fn limit_values(columns: &mut Columns, order: &[u32]) {
    let Columns { run, time, values, value, .. } = columns;
    let run_of = |row: u32| run.get(index(row));
    let mut limit = RunLimit::default();
    for (table, column) in values.iter_mut().zip(value) {
        if table.len() <= MAX_KEPT_VALUES {
            continue;
        }
        for rows in order.chunk_by(|one, next| run_of(*one) == run_of(*next)) {
            if rows.len() > MAX_KEPT_VALUES {
                limit.apply(rows, time, table, column, None);
            }
        }
    }
}

/// The values that a link keeps whose clicks come in several ranges of time.
#[derive(Debug, Default)]
pub(crate) struct KeptValues {
    /// The last link so far.
    last: Option<Run>,
    of_dimensions: [HashSet<Box<str>, RandomState>; DIMENSIONS],
}

impl KeptValues {
    /// Bounds the values of the next range of a day, as [`limit_values`] does for the whole day.
    pub(crate) fn limit_range(&mut self, columns: &mut Columns, order: &[u32]) {
        let ends = order.first().zip(order.last());
        let Some((first, last)) = ends.map(|(first, last)| (columns.run_of(*first), columns.run_of(*last)))
        else {
            return;
        };
        let goes_on = first == self.last;
        self.last = last;
        let Columns { run, time, values, value, .. } = columns;
        let run_of = |row: u32| run.get(index(row));
        let mut limit = RunLimit::default();
        for ((table, column), kept) in values.iter_mut().zip(value).zip(&mut self.of_dimensions) {
            let mut links = order.chunk_by(|one, next| run_of(*one) == run_of(*next)).peekable();
            let mut is_known = goes_on;
            while let Some(rows) = links.next() {
                // Only the first link may go on from the range before, and only the last one may go on in the next.
                if is_known || links.peek().is_none() {
                    if !std::mem::take(&mut is_known) {
                        kept.clear();
                    }
                    limit.apply(rows, time, table, column, Some(kept));
                } else if rows.len() > MAX_KEPT_VALUES && table.len() > MAX_KEPT_VALUES {
                    limit.apply(rows, time, table, column, None);
                }
            }
        }
    }
}

/// Bounds the values of one link, and reuses its memory.
#[derive(Default)]
struct RunLimit {
    numbers: Renumbering,
    /// The values that count, in the order of their first clicks.
    found: Vec<FoundValue>,
    /// Whether a value is replaced, by its number.
    is_replaced: Vec<bool>,
}

struct FoundValue {
    first_at: u32,
    /// The number in the table.
    value: u32,
    /// The number among the link's values.
    number: u32,
}

impl RunLimit {
    /// Bounds the values of ordered rows of a link. `kept` has the values that it kept in earlier rows, and gets those that it
    /// keeps in these.
    fn apply(
        &mut self,
        rows: &[u32],
        time: &[u32],
        table: &mut ValueTable,
        column: &mut [u32],
        mut kept: Option<&mut HashSet<Box<str>, RandomState>>,
    ) {
        self.numbers.begin(table.len());
        self.found.clear();
        for row in rows.iter().map(|row| index(*row)) {
            let (Some(&value), Some(&first_at)) = (column.get(row), time.get(row)) else { continue };
            let (number, new) = self.numbers.number(value);
            let text = table.value(value);
            let is_kept = |kept: &&mut HashSet<_, _>| kept.contains(text);
            if new && !matches!(text, "" | OTHER_VALUES) && !kept.as_ref().is_some_and(is_kept) {
                self.found.push(FoundValue { first_at, value, number });
            }
        }
        let room = MAX_KEPT_VALUES.saturating_sub(kept.as_ref().map_or(0, |kept| kept.len()));
        if kept.is_none() && self.found.len() <= room {
            return;
        }
        // By their texts within a millisecond: the rows are then in the order of the segments that were passed, and a day's
        // digests must keep the same values as its sealed segments, in whatever order the store reads them.
        self.found.sort_by(|one, other| {
            let key = |found: &FoundValue| table.value(found.value);
            one.first_at.cmp(&other.first_at).then_with(|| key(one).cmp(key(other)))
        });
        if let Some(kept) = &mut kept {
            kept.extend(self.found.iter().take(room).map(|found| Box::from(table.value(found.value))));
        }
        if self.found.len() <= room {
            return;
        }
        self.is_replaced.clear();
        self.is_replaced.resize(index(self.numbers.count()), false);
        for found in self.found.iter().skip(room) {
            if let Some(is_replaced) = self.is_replaced.get_mut(index(found.number)) {
                *is_replaced = true;
            }
        }
        let other = table.number(OTHER_VALUES);
        for row in rows {
            let Some(value) = column.get_mut(index(*row)) else { continue };
            let (number, _) = self.numbers.number(*value);
            if self.is_replaced.get(index(number)) == Some(&true) {
                *value = other;
            }
        }
    }
}
