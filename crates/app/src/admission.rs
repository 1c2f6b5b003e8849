//! Admitting a request: who sends it, whether it is allowed, and how many more may follow (contract "Authentication" and
//! "Request budget", D7).

pub mod address_throttle;
mod admit;
mod client_addresses;
mod in_flight;
mod recent_keys;

use std::sync::Arc;
use std::time::Duration;

use signpost_domain::{AccountId, PlanName};

use self::address_throttle::AddressThrottle;
pub use self::admit::{AdmittedRequest, NotAdmitted, RateLimits, Reason, WayOut, admit};
pub use self::client_addresses::{ClientAddresses, Sender};
use self::in_flight::InFlight;
pub(crate) use self::in_flight::RequestPermit;
pub use self::in_flight::{AccountBounds, SearchPermit};
use self::recent_keys::RecentKeys;
use crate::log_pace::LogPaces;

/// The minimum interval between two log lines about the same unknown plan.
const UNKNOWN_PLAN_INTERVAL: Duration = Duration::from_mins(1);

/// The minimum interval between two log lines about the exhausted budget of the same account.
const EXHAUSTED_INTERVAL: Duration = Duration::from_hours(1);

/// This node's state of admission. It counts the refused requests of each address, and bounds what each account has in
/// flight.
///
/// It remembers recently accepted keys, so that a stranger behind the same address cannot block a paying caller (D18).
pub struct Gatekeeper {
    rejections: AddressThrottle,
    recent_keys: RecentKeys,
    in_flight: Arc<InFlight>,
    unknown_plans: LogPaces<PlanName>,
    exhausted_accounts: LogPaces<AccountId>,
}

impl Gatekeeper {
    /// A gatekeeper that allows `rejections_per_minute` refused requests from one address (0 means any number), and bounds
    /// what one account has in flight.
    #[must_use]
    pub fn new(rejections_per_minute: u32, bounds: AccountBounds) -> Self {
        Self {
            rejections: AddressThrottle::new(rejections_per_minute),
            recent_keys: RecentKeys::default(),
            in_flight: Arc::new(InFlight::new(bounds)),
            unknown_plans: LogPaces::new(UNKNOWN_PLAN_INTERVAL),
            exhausted_accounts: LogPaces::new(EXHAUSTED_INTERVAL),
        }
    }
}
