//! Clicks as columns, wherever they are: collected in memory, or decoded from one segment.

use crate::columns::{Run, Visitor};
use crate::numbers::index;

/// The distinct values of a dimension, by number.
pub(crate) trait Dictionary {
    /// The number of values.
    fn count(&self) -> usize;

    /// A value; empty if no value has the number.
    fn value(&self, number: u32) -> &str;
}

/// The values of a dimension: the distinct ones, and the number of each click's.
#[derive(Clone, Copy)]
pub(crate) struct DimensionRows<'a> {
    pub(crate) dictionary: &'a dyn Dictionary,
    pub(crate) value: &'a [u32],
}

/// Borrowed columns of clicks. Each column has an entry for each click, in any order.
pub(crate) struct ClickRows<'a> {
    /// The distinct runs.
    pub(crate) runs: &'a [Run],
    /// The run of each click, as an index.
    pub(crate) run: &'a [u32],
    /// The millisecond in the day.
    pub(crate) time: &'a [u32],
    /// The number of the kind.
    pub(crate) kind: &'a [u8],
    /// The distinct visitors.
    pub(crate) visitors: &'a [Visitor],
    /// The visitor of each click, as an index.
    pub(crate) visitor: &'a [u32],
    pub(crate) dimensions: Vec<DimensionRows<'a>>,
}

impl<'a> ClickRows<'a> {
    /// The ordered rows of each link.
    pub(crate) fn links<'o>(&self, order: &'o [u32]) -> impl Iterator<Item = (Run, &'o [u32])> + use<'a, 'o> {
        let (runs, run) = (self.runs, self.run);
        let run_of = move |row: &u32| run.get(index(*row)).copied();
        let of_links = order.chunk_by(move |one, next| run_of(one) == run_of(next));
        of_links.filter_map(move |rows| Some((*runs.get(index(run_of(rows.first()?)?))?, rows)))
    }

    /// The visitor of a click.
    pub(crate) fn visitor_of(&self, row: u32) -> Visitor {
        let visitor = self.visitor.get(index(row)).and_then(|visitor| self.visitors.get(index(*visitor)));
        visitor.copied().unwrap_or(Visitor::Ordinal(0))
    }
}
