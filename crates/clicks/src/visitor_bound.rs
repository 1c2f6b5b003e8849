//! Bounds how many distinct visitors the clicks of several segments have, without keeping them.

use std::convert::Infallible;

use crate::columns::Visitor;
use crate::numbers::index;

/// An upper bound of distinct visitors.
///
/// The sum over the segments is one. But regular visitors are in most segments of a day, and if the sum is larger than what one
/// pass counts, each further pass reads the whole day. So those beyond one pass are estimated.
#[derive(Debug, Default)]
pub(crate) struct VisitorBound {
    added: usize,
    /// Those beyond one pass: their sum, and how many are distinct.
    further: usize,
    distinct: DistinctEstimate,
}

impl VisitorBound {
    /// Adds visitors who are distinct among themselves, or `visitors` clicks. One pass counts `one_pass` visitors. Only if there
    /// are more, `each` is asked for them.
    pub(crate) fn add<E>(
        &mut self,
        visitors: usize,
        one_pass: usize,
        each: impl FnOnce(&mut DistinctEstimate) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.added.saturating_add(visitors) <= one_pass {
            self.added += visitors;
            return Ok(());
        }
        self.further = self.further.saturating_add(visitors);
        each(&mut self.distinct)
    }

    /// Adds the visitors of some clicks.
    pub(crate) fn add_clicks(&mut self, clicks: impl ExactSizeIterator<Item = Visitor>, one_pass: usize) {
        let added = self.add(clicks.len(), one_pass, |distinct| {
            clicks.for_each(|visitor| distinct.add(visitor));
            Ok::<(), Infallible>(())
        });
        added.unwrap_or_else(|never| match never {});
    }

    /// The bound. It holds with near certainty.
    pub(crate) fn visitors(&self) -> usize {
        if self.further == 0 {
            return self.added;
        }
        self.added.saturating_add(self.further.min(self.distinct.visitors()))
    }

    /// Removes all visitors, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        (self.added, self.further) = (0, 0);
        self.distinct.bits.clear();
    }
}

/// Estimates the number of distinct visitors by linear counting: each one sets a bit by its hash, and the bits that are not set
/// tell the number.
#[derive(Debug, Default)]
pub(crate) struct DistinctEstimate {
    bits: Vec<u64>,
}

impl DistinctEstimate {
    /// 256 KiB, enough for some ten million visitors.
    const LOG_BITS: u32 = 21;
    const BITS: u32 = 1 << Self::LOG_BITS;

    /// Adds a visitor.
    pub(crate) fn add(&mut self, visitor: Visitor) {
        if self.bits.is_empty() {
            self.bits.resize(index(Self::BITS / 64), 0);
        }
        // Ordinals follow each other, so a multiplication alone would spread them too evenly.
        let mixed = visitor.key().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let bit = usize::try_from(mixed >> (64 - Self::LOG_BITS)).unwrap_or(0);
        if let Some(bits) = self.bits.get_mut(bit / 64) {
            *bits |= 1 << (bit % 64);
        }
    }

    /// Slightly more visitors than were probably added, and `usize::MAX` if they are too many to tell.
    fn visitors(&self) -> usize {
        let set: u32 = self.bits.iter().map(|bits| bits.count_ones()).sum();
        let unset = Self::BITS.saturating_sub(set);
        if unset < 1_000 {
            return usize::MAX;
        }
        let visitors = f64::from(Self::BITS) * (f64::from(Self::BITS) / f64::from(unset)).ln() * 1.05;
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 20 million"
        )]
        let visitors = visitors.ceil() as usize;
        visitors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(number: u64) -> Visitor {
        let mixed = number.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let [_, _, hash @ ..] = (mixed ^ mixed >> 29).to_be_bytes();
        Visitor::Hash(hash)
    }

    fn bound(visitors: u64, segments: u64, one_pass: usize) -> usize {
        let mut bound = VisitorBound::default();
        for _ in 0..segments {
            let each = |distinct: &mut DistinctEstimate| {
                (0..visitors).for_each(|number| distinct.add(visitor(number)));
                Ok::<(), Infallible>(())
            };
            let count = usize::try_from(visitors).unwrap();
            assert!(bound.add(count, one_pass, each).is_ok());
        }
        bound.visitors()
    }

    #[test]
    fn few_visitors_are_summed_up() {
        assert_eq!(bound(100, 7, 700), 700);
        assert_eq!(VisitorBound::default().visitors(), 0);
    }

    #[test]
    fn many_visitors_are_estimated_and_hardly_too_high() {
        for (visitors, segments) in [(1_000, 5), (200_000, 9), (4_000_000, 2)] {
            let found = bound(visitors, segments, 0);
            let visitors = usize::try_from(visitors).unwrap();
            assert!((visitors..visitors + visitors / 10).contains(&found), "{found} of {visitors}");
        }
        let found = bound(200_000, 9, 200_000);
        assert!((390_000..450_000).contains(&found), "{found}");
    }

    #[test]
    fn ordinals_are_estimated_like_hashes() {
        let mut bound = VisitorBound::default();
        bound.add_clicks((0..1_000_000).map(Visitor::Ordinal).collect::<Vec<_>>().into_iter(), 0);
        bound.add_clicks((0..1_000_000).map(Visitor::Ordinal).collect::<Vec<_>>().into_iter(), 0);
        assert!((1_000_000..1_100_000).contains(&bound.visitors()), "{}", bound.visitors());
    }

    #[test]
    fn too_many_visitors_to_tell_are_summed_up() {
        let all = usize::try_from(DistinctEstimate::BITS).unwrap() * 12;
        assert_eq!(bound(u64::try_from(all).unwrap(), 1, 0), all);
    }

    #[test]
    fn a_bound_can_begin_again() {
        let mut bound = VisitorBound::default();
        for _ in 0..2 {
            assert!(
                bound
                    .add(9, 0, |distinct| {
                        distinct.add(visitor(1));
                        Ok::<(), Infallible>(())
                    })
                    .is_ok()
            );
            assert_eq!(bound.visitors(), 2);
            bound.clear();
        }
        assert_eq!(bound.visitors(), 0);
    }
}
