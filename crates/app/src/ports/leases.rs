//! Leases: which node does what only one of them may do.

use async_trait::async_trait;
use signpost_domain::Timestamp;

use super::store_error::StoreError;

/// Who holds a lease: one running program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseHolder([u8; 16]);

impl LeaseHolder {
    /// The holder with these bits, which no other program has.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bits.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

/// Rights that one holder has at a time, for a term. A store that several programs share counts it by its own clock, which is
/// the same for all of them. Elsewhere instants are those of the callers' clocks: two of them that differ take a lease from
/// each other too early by as much. So a holder stops using one well before it ends.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes the lease of this name for the time from `now` to `until`, or renews it. It is to be had for its holder, and for
    /// anybody if nobody has it or it has ended by now. One step: of any number of takers at once, one gets it. Whether
    /// it was had.
    async fn take_lease(
        &self,
        name: &str,
        holder: LeaseHolder,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Gives the lease back, so that anybody may have it at once. Does nothing if the holder does not have it.
    async fn release_lease(&self, name: &str, holder: LeaseHolder) -> Result<(), StoreError>;
}
