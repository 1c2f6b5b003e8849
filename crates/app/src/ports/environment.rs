//! What a process gets from its environment: the time, new identifiers, and random bytes.

use std::time::Instant;

use signpost_domain::{Id, IdKind, Timestamp};

/// Gives the time of day. It may jump, so durations are measured with the monotonic clock, never as the difference of two
/// timestamps.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// The monotonic clock, which goes on while the time of day jumps. Only clocks of tests have one of their own.
    fn instant(&self) -> Instant {
        Instant::now()
    }
}

/// Gives out the 128 bits of identifiers (D1).
pub trait IdSource: Send + Sync {
    /// Bits that no node has given out before. The bits of one source increase strictly, even when the clock steps back, so
    /// that lists keep the order of creation.
    fn next_bits(&self) -> [u8; 16];
}

impl dyn IdSource {
    /// A new identifier of any kind.
    pub fn next<K: IdKind>(&self) -> Id<K> {
        Id::from_bytes(self.next_bits())
    }
}

/// A cryptographically secure source of random bytes. Keys and generated slugs come from it.
pub trait Randomness: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable>;
}

/// The operating system gave no random bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no random bytes: {0}")]
pub struct RandomnessUnavailable(pub String);
