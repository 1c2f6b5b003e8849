//! Admitting a request: who sends it, whether it is allowed, and how many more may follow (contract "Authentication" and
//! "Request budget", D7).

pub mod address_throttle;
mod admit;
mod client_addresses;
mod enter;
mod enter_named;
mod in_flight;
mod minute_counts;
mod proxy_sign_in;
mod recent_keys;
mod recent_uses;

use std::sync::Arc;
use std::time::Duration;

use signpost_domain::{AccountId, PlanName, SessionId, UserId};

use self::address_throttle::AddressThrottle;
pub use self::admit::{AdmittedRequest, NotAdmitted, RateLimits, Reason, WayOut, admit};
pub use self::client_addresses::{ClientAddresses, Sender};
pub use self::enter::{NotEntered, SignedIn, enter, recognise};
pub use self::enter_named::{NamedRequest, enter_named, recognise_named};
use self::in_flight::InFlight;
pub(crate) use self::in_flight::RequestPermit;
pub use self::in_flight::{AccountBounds, SearchPermit};
use self::minute_counts::MinuteCounts;
pub use self::proxy_sign_in::ProxySignIn;
use self::recent_keys::RecentKeys;
use self::recent_uses::RecentUses;
use crate::log_pace::{LogPace, LogPaces};

/// The minimum interval between two log lines about the same unknown plan.
const UNKNOWN_PLAN_INTERVAL: Duration = Duration::from_mins(1);

/// The minimum interval between two log lines about the exhausted budget of the same account.
const EXHAUSTED_INTERVAL: Duration = Duration::from_hours(1);

/// The interval between two log lines about failed sign-ins (D78).
const FAILED_SIGN_INS_INTERVAL: Duration = Duration::from_hours(1);

/// How many failed sign-ins one address may have in a minute on this node (D75).
const FAILED_SIGN_INS_PER_MINUTE: u32 = 30;

/// How many requests a session may make in a minute on this node (D76).
const SESSION_REQUESTS_PER_MINUTE: u32 = 600;

/// How many sessions the proxy's header may open for one user in a minute on this node (D77). A program that keeps no cookie
/// would otherwise open one, and write an entry of the audit, with each request.
const NAMED_SESSIONS_PER_MINUTE: u32 = 30;

/// This node's state of admission. It counts the refused requests of each address, and bounds what each account has in
/// flight.
///
/// It remembers recently accepted keys, so that a stranger behind the same address cannot block a paying caller (D18).
pub struct Gatekeeper {
    rejections: AddressThrottle,
    recent_keys: RecentKeys,
    in_flight: Arc<InFlight>,
    /// Requests of people, counted apart from those of programs: a flood of an account's own programs must not keep its owner
    /// from revoking the key.
    people_in_flight: Arc<InFlight>,
    pub(crate) failed_sign_ins: AddressThrottle,
    pub(crate) failed_sign_in_lines: LogPace,
    session_requests: MinuteCounts<SessionId>,
    pub(crate) named_sessions: MinuteCounts<UserId>,
    pub(crate) recent_uses: RecentUses,
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
            people_in_flight: Arc::new(InFlight::new(bounds)),
            failed_sign_ins: AddressThrottle::new(FAILED_SIGN_INS_PER_MINUTE),
            failed_sign_in_lines: LogPace::new(FAILED_SIGN_INS_INTERVAL),
            session_requests: MinuteCounts::new(SESSION_REQUESTS_PER_MINUTE),
            named_sessions: MinuteCounts::new(NAMED_SESSIONS_PER_MINUTE),
            recent_uses: RecentUses::default(),
            unknown_plans: LogPaces::new(UNKNOWN_PLAN_INTERVAL),
            exhausted_accounts: LogPaces::new(EXHAUSTED_INTERVAL),
        }
    }
}
