//! Leases: which node does the work that only one node may do.

use async_trait::async_trait;
use signpost_domain::Timestamp;

use super::store_error::StoreError;

/// The holder of a lease: a running program with its jobs, or a single attempt, which then keeps other attempts of its program out as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseHolder([u8; 16]);

impl LeaseHolder {
    /// The holder with these bits. No other one may have the same.
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

/// Rights that one holder has at a time, for a term.
///
/// A store that several programs share measures the term with its own clock. In any other store, the instants come from the
/// callers' clocks. If two clocks differ, a caller may take the lease too early by that difference. So a holder stops using
/// a lease well before it ends.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes or renews the lease of this name from `now` to `until`. It succeeds for the current holder, and for anyone if
    /// the lease is free or has ended. It is one atomic step: of any number of concurrent callers, one gets the lease.
    /// Returns whether this caller has it.
    async fn take_lease(
        &self,
        name: &str,
        holder: LeaseHolder,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Releases the lease, so that anyone can take it at once. Does nothing if `holder` does not hold it.
    async fn release_lease(&self, name: &str, holder: LeaseHolder) -> Result<(), StoreError>;
}
