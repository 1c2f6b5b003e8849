//! Passes over a day with so many visitors that each pass counts a part of them.

use signpost_domain::analytics::Report;

use crate::dimension_of_day::OrderOfLinks;

/// A pass over a day. It counts a part of the visitors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    /// The number, from 0.
    pub(crate) number: u64,
    /// Distinct visitors so far.
    pub(crate) visitors: u64,
}

/// What one pass over a day counts besides dimensions.
pub(crate) struct PassSums<'a> {
    /// What is counted so far.
    pub(crate) report: &'a mut Report,
    /// Distinct visitors of the day, in this pass.
    pub(crate) visitors: u64,
    /// Whether this pass counts rows, and not only visitors.
    pub(crate) first: bool,
    /// Whether this is the only pass.
    pub(crate) only: bool,
    /// Whether all clicks of a link are contiguous.
    pub(crate) links_in_order: bool,
}

impl PassSums<'_> {
    /// In which order it meets the clicks of links.
    pub(crate) const fn order_of_links(&self) -> OrderOfLinks {
        match (self.links_in_order, self.only) {
            (true, true) => OrderOfLinks::Once,
            (true, false) => OrderOfLinks::InEachPass,
            (false, _) => OrderOfLinks::Any,
        }
    }
}
