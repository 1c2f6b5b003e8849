//! Counts distinct visitors, of values and of buckets.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};

use crate::columns::Visitor;
use crate::numbers::place;

/// No value, and no number of a visitor.
pub(crate) const NONE: u32 = u32::MAX;

/// The distinct pairs of a visitor and a value. Most visitors have one value, which costs a look into an array.
#[derive(Debug, Default)]
pub(crate) struct DistinctPairs {
    first: Vec<u32>,
    more: HashSet<(u32, u32), RandomState>,
}

impl DistinctPairs {
    /// Begins anew, with room for so many visitors.
    pub(crate) fn reset(&mut self, visitors: usize) {
        self.first.clear();
        self.first.resize(visitors, NONE);
        self.more.clear();
    }

    /// Whether the pair is new.
    #[inline]
    pub(crate) fn add(&mut self, visitor: u32, value: u32) -> bool {
        let at = place(visitor);
        if at >= self.first.len() {
            self.first.resize(at + 1, NONE);
        }
        match self.first.get_mut(at) {
            Some(first) if *first == value => false,
            Some(first) if *first == NONE => {
                *first = value;
                true
            }
            _ => self.more.insert((visitor, value)),
        }
    }
}

/// How the visitors of a day are numbered, so that they can be counted in arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// There is one segment: by their places in it.
    Places,
    /// All segments are sealed: by their ordinals.
    Ordinals,
    /// In the order of their appearance.
    Appearance,
}

/// Numbers the visitors of a day. A day with very many of them is counted in several passes, each with a part of them.
#[derive(Debug)]
pub(crate) struct VisitorNumbers {
    numbering: Numbering,
    pass: u64,
    passes: u64,
    known: HashMap<u64, u32, RandomState>,
}

impl VisitorNumbers {
    /// For one pass of so many.
    pub(crate) fn new() -> Self {
        Self { numbering: Numbering::Places, pass: 0, passes: 1, known: HashMap::default() }
    }

    /// Begins a pass.
    pub(crate) fn begin(&mut self, numbering: Numbering, pass: u64, passes: u64) {
        (self.numbering, self.pass, self.passes) = (numbering, pass, passes.max(1));
        self.known.clear();
    }

    /// The number of a visitor, who has this place in the only segment if there is only one; [`NONE`] if another pass counts it.
    #[inline]
    pub(crate) fn number(&mut self, visitor: Visitor, place_in_segment: u32) -> u32 {
        let key = match (self.numbering, visitor) {
            (Numbering::Places, _) => u64::from(place_in_segment),
            (Numbering::Ordinals, Visitor::Ordinal(ordinal)) => u64::from(ordinal),
            (Numbering::Appearance | Numbering::Ordinals, Visitor::Hash(hash)) => {
                let mut key = [0; 8];
                key[2..].copy_from_slice(&hash);
                u64::from_be_bytes(key)
            }
            (Numbering::Appearance, Visitor::Ordinal(ordinal)) => 1 << 48 | u64::from(ordinal),
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
                    assert!(given.insert(number), "two visitors are {number}");
                    *passes += 1;
                }
            }
        }
        assert!(passes_of.iter().all(|passes| *passes == 1), "{passes_of:?}");
    }
}
