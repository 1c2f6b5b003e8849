//! This node's memory of who was refused and who was let in.

use std::sync::Arc;

use super::address_throttle::AddressThrottle;
use super::in_flight::{AccountBounds, InFlight};
use super::recent_keys::RecentKeys;

/// Counts the refused requests of each address, and remembers the keys that were accepted lately, so that a
/// stranger behind the same address cannot silence a paying caller (D18). Bounds what each account has in flight.
pub struct Gatekeeper {
    pub(super) rejections: AddressThrottle,
    pub(super) recent_keys: RecentKeys,
    pub(super) in_flight: Arc<InFlight>,
}

impl Gatekeeper {
    /// A gatekeeper that takes `rejections_per_minute` refused requests from one address, where 0 means any number, and has
    /// so much of one account in flight.
    #[must_use]
    pub fn new(rejections_per_minute: u32, bounds: AccountBounds) -> Self {
        Self {
            rejections: AddressThrottle::new(rejections_per_minute),
            recent_keys: RecentKeys::default(),
            in_flight: Arc::new(InFlight::new(bounds)),
        }
    }
}
