//! This node's memory of who was refused and who was let in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use signpost_domain::{PlanName, Timestamp};

use super::address_throttle::AddressThrottle;
use super::in_flight::{AccountBounds, InFlight};
use super::recent_keys::RecentKeys;
use crate::log_pace::LogPace;

/// Counts the refused requests of each address, and remembers the keys that were accepted lately, so that a
/// stranger behind the same address cannot silence a paying caller (D18). Bounds what each account has in flight.
pub struct Gatekeeper {
    pub(super) rejections: AddressThrottle,
    pub(super) recent_keys: RecentKeys,
    pub(super) in_flight: Arc<InFlight>,
    /// Of accounts whose plan this node does not know, by plan: there are as many as operators have thought of.
    unknown_plans: Mutex<HashMap<PlanName, LogPace>>,
}

/// How often at most a refusal for one unknown plan is logged.
const UNKNOWN_PLAN_INTERVAL: Duration = Duration::from_mins(1);

impl Gatekeeper {
    /// A gatekeeper that takes `rejections_per_minute` refused requests from one address, where 0 means any number, and has
    /// so much of one account in flight.
    #[must_use]
    pub fn new(rejections_per_minute: u32, bounds: AccountBounds) -> Self {
        Self {
            rejections: AddressThrottle::new(rejections_per_minute),
            recent_keys: RecentKeys::default(),
            in_flight: Arc::new(InFlight::new(bounds)),
            unknown_plans: Mutex::default(),
        }
    }

    /// Whether it is time to log that this plan is unknown.
    pub(super) fn may_log_unknown(&self, plan: &PlanName, now: Timestamp) -> bool {
        let mut plans = self.unknown_plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.entry(plan.clone()).or_insert_with(|| LogPace::new(UNKNOWN_PLAN_INTERVAL)).is_due(now)
    }
}
