//! Bounds the distinct values of each link, day and dimension (D47).
//!
//! Strangers invent values at no cost, and every node bounds only those that it records itself. So the bound is applied
//! again wherever clicks of a whole day, or of several nodes, come together.

use signpost_domain::analytics::{MAX_KEPT_VALUES, OTHER_VALUES};

use crate::columns::Columns;
use crate::numbers::index;
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
                limit.apply(rows, time, table, column);
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
    fn apply(&mut self, rows: &[u32], time: &[u32], table: &mut ValueTable, column: &mut [u32]) {
        self.numbers.begin(table.len());
        self.found.clear();
        for row in rows.iter().map(|row| index(*row)) {
            let (Some(&value), Some(&first_at)) = (column.get(row), time.get(row)) else { continue };
            let (number, new) = self.numbers.number(value);
            if new && !matches!(table.value(value), "" | OTHER_VALUES) {
                self.found.push(FoundValue { first_at, value, number });
            }
        }
        if self.found.len() <= MAX_KEPT_VALUES {
            return;
        }
        // By their texts within a millisecond: the rows are then in the order of the segments that were passed, and a day's
        // digests must keep the same values as its sealed segments, in whatever order the store reads them.
        self.found.sort_by(|one, other| {
            let key = |found: &FoundValue| table.value(found.value);
            one.first_at.cmp(&other.first_at).then_with(|| key(one).cmp(key(other)))
        });
        self.is_replaced.clear();
        self.is_replaced.resize(index(self.numbers.count()), false);
        for found in self.found.iter().skip(MAX_KEPT_VALUES) {
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
