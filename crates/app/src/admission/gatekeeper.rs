//! This node's memory of who was refused and who was let in.

use super::address_throttle::AddressThrottle;
use super::recent_keys::RecentKeys;

/// Counts the refused requests of each address, and remembers the keys that were accepted lately, so that a
/// stranger behind the same address cannot silence a paying caller (D18).
pub struct Gatekeeper {
    pub(super) rejections: AddressThrottle,
    pub(super) recent_keys: RecentKeys,
}

impl Gatekeeper {
    /// A gatekeeper that takes `rejections_per_minute` refused requests from one address; 0 means any number.
    #[must_use]
    pub fn new(rejections_per_minute: u32) -> Self {
        Self { rejections: AddressThrottle::new(rejections_per_minute), recent_keys: RecentKeys::default() }
    }
}
