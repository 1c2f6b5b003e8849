//! How the clicks of a day are counted: in which order of segments, and in how many passes.

use signpost_domain::LinkKind;
use signpost_domain::analytics::Dimension;

use crate::distinct::Numbering;
use crate::numbers::sum;
use crate::row_selection::FoundLinks;
use crate::visitor_bound::VisitorBound;

/// A segment with clicks to count.
#[derive(Debug)]
pub(crate) struct SegmentOfDay {
    /// The first and the last of the selected links.
    pub(crate) first_link: (u128, LinkKind),
    pub(crate) last_link: (u128, LinkKind),
    /// Its links, for the first pass.
    pub(crate) found: Option<FoundLinks>,
}

/// How to count a day.
#[derive(Debug)]
pub(crate) struct DayPlan {
    /// The segments of a round. Those without clicks to count are `None`.
    pub(crate) segments: Vec<Option<SegmentOfDay>>,
    /// Whether all clicks of a link are contiguous, as in sealed days without late clicks.
    pub(crate) links_in_order: bool,
    pub(crate) numbering: Numbering,
    pub(crate) passes: u64,
    /// The number of visitors for which arrays are allocated.
    pub(crate) visitors: usize,
    /// Sums over the segments: their runs, their rows, and the ordinals of the day.
    pub(crate) runs: usize,
    pub(crate) rows: usize,
    pub(crate) ordinals: usize,
    /// Whether any segment is not sealed.
    pub(crate) has_hashes: bool,
    /// The visitors of all segments.
    pub(crate) bound: VisitorBound,
}

/// About how many bytes the number of a visitor takes in a hash table.
pub(crate) const BYTES_OF_NUMBER: u64 = 24;

/// About how many bytes a pair of a visitor and a further value takes.
const BYTES_OF_PAIR: u64 = 18;

/// How many bytes a visitor takes in the arrays.
pub(crate) const fn bytes_of_visitor(dimensions: u64) -> u64 {
    4 * (2 + dimensions)
}

impl Default for DayPlan {
    fn default() -> Self {
        Self {
            segments: Vec::new(),
            links_in_order: true,
            numbering: Numbering::Index,
            passes: 1,
            visitors: 0,
            runs: 0,
            rows: 0,
            ordinals: 0,
            has_hashes: false,
            bound: VisitorBound::default(),
        }
    }
}

impl DayPlan {
    /// The indexes of the segments with clicks to count, in the order of their first and last links.
    pub(crate) fn by_first_link(&self) -> Vec<usize> {
        let with_clicks = self.segments.iter().enumerate();
        let mut order: Vec<_> = with_clicks
            .filter_map(|(at, of_day)| {
                of_day.as_ref().map(|of_day| (of_day.first_link, of_day.last_link, at))
            })
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, _, at)| at).collect()
    }

    /// Whether no link comes again in a later segment.
    pub(crate) fn is_in_order(&self, order: &[usize]) -> bool {
        let segments = order.iter().filter_map(|at| self.segments.get(*at)?.as_ref());
        segments.is_sorted_by(|one, next| one.last_link <= next.first_link)
    }

    /// Decides how visitors are numbered and how many passes there are. `false` if there is nothing to count.
    pub(crate) fn decide(&mut self, dimensions: &[Dimension], array_bytes: u64) -> bool {
        let segments = self.segments.iter().flatten().count();
        let mut bytes_each = bytes_of_visitor(sum(dimensions.len()));
        if segments > 1 {
            // Ordinals span the whole day, so arrays of them waste memory if few are selected.
            if !self.has_hashes && self.ordinals <= self.rows.saturating_mul(8) {
                (self.numbering, self.visitors) = (Numbering::Ordinals, self.ordinals);
            } else {
                (self.numbering, self.visitors) = (Numbering::Appearance, self.bound.visitors());
                bytes_each += BYTES_OF_NUMBER;
            }
        }
        let mut bytes = sum(self.visitors) * bytes_each;
        if !self.links_in_order && dimensions.contains(&Dimension::Link) {
            // A visitor's first link is in an array, and at most each other click is on a further link.
            bytes += sum(self.rows.saturating_sub(self.visitors)) * BYTES_OF_PAIR;
        }
        self.passes = bytes.div_ceil(array_bytes).max(1);
        if self.passes > 1 || self.numbering == Numbering::Appearance {
            // Arrays grow as visitors appear.
            self.visitors = 0;
        }
        segments > 0
    }
}
