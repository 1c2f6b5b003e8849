//! Reproducible random choices, so that a failing test can be repeated.

/// A small generator (xorshift64*) with the same sequence in every run.
pub(crate) struct Pseudorandom(u64);

impl Pseudorandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % bound
    }

    /// True with a probability of one in `cases`.
    pub(crate) fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// One of the items; `None` if `items` is empty.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let len = u64::try_from(items.len()).unwrap();
        if len == 0 { None } else { items.get(usize::try_from(self.below(len)).unwrap()) }
    }
}
