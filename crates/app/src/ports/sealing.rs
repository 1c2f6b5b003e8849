//! Sealing secrets that go into the store (D192).

use signpost_domain::SealedSecret;

use super::environment::RandomnessUnavailable;

/// Seals secrets with a key that is not in the store, so that a copy of the store alone does not reveal them.
pub trait Sealer: Send + Sync {
    /// Seals a secret. `purpose` names what it is for, such as `certificate go.example.com`; it is not secret, and the secret
    /// opens for no other purpose. So a secret that was moved to another row does not open.
    ///
    /// # Errors
    /// The system has no random bytes.
    fn seal(&self, purpose: &str, secret: &[u8]) -> Result<SealedSecret, RandomnessUnavailable>;

    /// Opens a secret that was sealed for the same purpose. `None` if it was sealed with another key or for another purpose, or
    /// is damaged.
    fn open(&self, purpose: &str, sealed: &SealedSecret) -> Option<Vec<u8>>;

    /// Whether a secret was sealed with the key that [`seal`](Self::seal) uses now. `false` if it was sealed with an earlier
    /// one, which still opens it, or with one that is unknown here.
    fn is_current(&self, sealed: &SealedSecret) -> bool;
}
