//! Random bytes.

/// A cryptographically secure source of random bytes: keys and generated slugs come from it.
pub trait Randomness: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable>;
}

/// The operating system gave no random bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no random bytes: {0}")]
pub struct RandomnessUnavailable(pub String);
