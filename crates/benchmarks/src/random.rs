//! Random numbers for loads.

/// Random numbers that are good enough to choose links (splitmix64).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The same numbers in every run.
    pub(super) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Different numbers for each worker and each run.
    pub(super) fn of_worker(worker: u64) -> Self {
        let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |now| u64::from(now.subsec_nanos()));
        Self(now ^ worker.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.next() % u64::from(bound)).unwrap_or_default()
    }
}
