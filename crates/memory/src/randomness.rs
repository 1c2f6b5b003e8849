//! Reproducible random bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signpost_app::ports::{Randomness, RandomnessUnavailable};

/// Pseudo-random bytes that depend only on a seed. For tests only: the seed reveals every key and slug made
/// of them.
///
/// Chosen bytes can be queued, so that a test knows a generated slug beforehand, or makes one repeat:
///
/// ```
/// # use signpost_app::ports::Randomness;
/// # use signpost_memory::SeededRandomness;
/// let randomness = SeededRandomness::new(1);
/// randomness.queue([7; 16]);
/// let mut bytes = [0; 16];
/// randomness.fill(&mut bytes).unwrap();
/// assert_eq!(bytes, [7; 16]);
/// ```
#[derive(Debug)]
pub struct SeededRandomness(Mutex<State>);

#[derive(Debug)]
struct State {
    seed: u64,
    queued: HashMap<usize, VecDeque<Vec<u8>>>,
    is_unavailable: bool,
}

impl SeededRandomness {
    /// The bytes of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(State { seed, queued: HashMap::new(), is_unavailable: false }))
    }

    /// Returns these bytes for the next request of exactly this length; several wait in order. A generated slug takes 16
    /// bytes, a key 32.
    pub fn queue<const N: usize>(&self, bytes: [u8; N]) {
        self.state().queued.entry(N).or_default().push_back(bytes.to_vec());
    }

    /// Makes every call fail, or work again.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.state().is_unavailable = is_unavailable;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SeededRandomness {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Randomness for SeededRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        let mut state = self.state();
        if state.is_unavailable {
            return Err(RandomnessUnavailable("switched off".to_owned()));
        }
        if let Some(queued) = state.queued.get_mut(&bytes.len()).and_then(VecDeque::pop_front) {
            bytes.copy_from_slice(&queued);
            return Ok(());
        }
        for chunk in bytes.chunks_mut(8) {
            for (byte, random) in chunk.iter_mut().zip(next(&mut state.seed).to_le_bytes()) {
                *byte = random;
            }
        }
        Ok(())
    }
}

/// The generator `SplitMix64`: small, well mixed, and the same everywhere.
const fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
