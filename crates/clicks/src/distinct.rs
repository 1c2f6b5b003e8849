//! Counts the distinct visitors of values and buckets.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};

use crate::columns::Visitor;
use crate::numbers::index;

/// Means "no value", or "no number of a visitor".
pub(crate) const NONE: u32 = u32::MAX;

/// The distinct pairs of a visitor and a value. Most visitors have one value, which costs one array access.
#[derive(Debug, Default)]
pub(crate) struct DistinctPairs {
    first: Vec<u32>,
    more: HashSet<u64, RandomState>,
}

impl DistinctPairs {
    /// Resets it, with room for this many visitors.
    pub(crate) fn reset(&mut self, visitors: usize) {
        self.first.clear();
        self.first.resize(visitors, NONE);
        self.more.clear();
    }

    /// The number of pairs that need more than an array.
    pub(crate) fn further(&self) -> usize {
        self.more.len()
    }

    /// Adds a pair. Returns whether it is new.
    #[inline]
    pub(crate) fn add(&mut self, visitor: u32, value: u32) -> bool {
        match self.first_of(visitor) {
            Some(first) if *first == value => false,
            Some(first) if *first == NONE => {
                *first = value;
                true
            }
            _ => self.more.insert(u64::from(visitor) << 32 | u64::from(value)),
        }
    }

    /// Adds a pair. Returns whether it is new, provided that all pairs with one value are contiguous. It
    /// needs no set.
    #[inline]
    pub(crate) fn add_in_order(&mut self, visitor: u32, value: u32) -> bool {
        self.first_of(visitor).is_some_and(|last| std::mem::replace(last, value) != value)
    }

    #[inline]
    fn first_of(&mut self, visitor: u32) -> Option<&mut u32> {
        let at = index(visitor);
        if at >= self.first.len() {
            self.first.resize(at + 1, NONE);
        }
        self.first.get_mut(at)
    }
}

/// How the visitors of a day are numbered, so that arrays can count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// By their index in the only segment.
    Index,
    /// By their ordinals, if all segments are sealed.
    Ordinals,
    /// By first appearance.
    Appearance,
}

/// Numbers the visitors of a day. A day with very many visitors is counted in several passes, each with a
/// part of them.
#[derive(Debug)]
pub(crate) struct VisitorNumbers {
    numbering: Numbering,
    pass: u64,
    passes: u64,
    known: HashMap<u64, u32, RandomState>,
}

impl VisitorNumbers {
    /// Starts with a single pass.
    pub(crate) fn new() -> Self {
        Self { numbering: Numbering::Index, pass: 0, passes: 1, known: HashMap::default() }
    }

    /// Starts a pass.
    pub(crate) fn begin(&mut self, numbering: Numbering, pass: u64, passes: u64) {
        (self.numbering, self.pass, self.passes) = (numbering, pass, passes.max(1));
        self.known.clear();
    }

    /// The number of a visitor; [`NONE`] if another pass counts it. With a single segment, the visitor has
    /// index `index_in_segment` in it.
    #[inline]
    pub(crate) fn number(&mut self, visitor: Visitor, index_in_segment: u32) -> u32 {
        let key = match (self.numbering, visitor) {
            (Numbering::Index, _) => u64::from(index_in_segment),
            (Numbering::Ordinals, Visitor::Ordinal(ordinal)) => u64::from(ordinal),
            (Numbering::Appearance | Numbering::Ordinals, visitor) => visitor.key(),
        };
        if self.passes > 1 && key % self.passes != self.pass {
            return NONE;
        }
        if self.numbering == Numbering::Appearance {
            let next = crate::numbers::number(self.known.len());
            return *self.known.entry(key).or_insert(next);
        }
        u32::try_from(if self.passes > 1 { key / self.passes } else { key }).unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_count_once() {
        let mut pairs = DistinctPairs::default();
        pairs.reset(1);
        let added =
            [(0, 5), (0, 5), (0, 6), (0, 6), (0, 5), (3, 6), (3, 6)].map(|(one, two)| pairs.add(one, two));
        assert_eq!(added, [true, false, true, false, false, true, false]);
        pairs.reset(4);
        assert!(pairs.add(0, 6) && pairs.add(3, 6));
    }

    #[test]
    fn each_visitor_has_a_number_in_exactly_one_pass() {
        let visitors: Vec<Visitor> = (0..50_u8)
            .flat_map(|n| [Visitor::Hash([n, 0, 0, 7, 0, n]), Visitor::Ordinal(u32::from(n))])
            .collect();
        let mut numbers = VisitorNumbers::new();
        let mut passes_of = vec![0; visitors.len()];
        for pass in 0..7 {
            numbers.begin(Numbering::Appearance, pass, 7);
            let mut given = std::collections::BTreeSet::new();
            for (visitor, passes) in visitors.iter().zip(&mut passes_of) {
                let number = numbers.number(*visitor, 0);
                assert_eq!(number, numbers.number(*visitor, 0));
                if number != NONE {
                    assert!(given.insert(number), "two visitors have number {number}");
                    *passes += 1;
                }
            }
        }
        assert!(passes_of.iter().all(|passes| *passes == 1), "{passes_of:?}");
    }
}
