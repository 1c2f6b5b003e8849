//! Admitting requests of programs with keys.

use std::net::IpAddr;

use signpost_domain::{
    Account, AccountId, ApiKeySecret, ClientNetwork, ErrorCode, KeyHash, Link, LinkId, Plan, PlanName,
    QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget, Timestamp,
};

use super::address_throttle::Throttled;
use crate::application::Application;
use crate::caller::{Actor, Caller};
use crate::ports::{KeyHolder, StoreError};

/// An account's request budget and its remainder, for the four `RateLimit-*` headers (D17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// The budget of the plan.
    pub budget: RequestBudget,
    /// The remainder.
    pub remaining: QuotaRemaining,
}

/// A request to the API that was admitted.
#[derive(Debug, Clone)]
pub struct AdmittedRequest {
    /// Who sends it.
    pub caller: Caller,
    /// The account's request budget after this request.
    pub rate_limits: RateLimits,
    /// The link that the request is about, read together with the key.
    pub read_ahead: Option<Link>,
}

/// A request that was not admitted.
#[derive(Debug)]
pub struct NotAdmitted {
    /// Why.
    pub reason: Reason,
    /// The account's budget, if the account is known. The answer has the `RateLimit-*` headers then (D17).
    pub rate_limits: Option<RateLimits>,
}

/// Why a request was not admitted.
#[derive(Debug)]
pub enum Reason {
    /// Too many requests from this address were refused in this minute (D18).
    AddressThrottled {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The key is missing, malformed, unknown, revoked or expired.
    InvalidKey,
    /// The account is suspended.
    Suspended,
    /// The plan does not include the API.
    NoApiAccess,
    /// The account has reached the bound on its requests in flight on this node.
    TooManyInFlight,
    /// A window of the budget is exhausted.
    Exhausted {
        /// Which window.
        window: QuotaWindow,
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
        /// What a caller on the operator's own machine can do about it.
        way_out: Option<WayOut>,
    },
    /// A store broke.
    Store(StoreError),
}

/// How the operator gives an account a larger budget: `signpost account set-plan ACCOUNT PLAN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayOut {
    /// The account.
    pub account: AccountId,
    /// The plan with the larger budget.
    pub plan: PlanName,
}

impl Reason {
    /// The contract's code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::AddressThrottled { .. }
            | Self::TooManyInFlight
            | Self::Exhausted { window: QuotaWindow::Minute, .. } => ErrorCode::RateLimitExceeded,
            Self::InvalidKey => ErrorCode::InvalidApiKey,
            Self::Suspended => ErrorCode::AccountSuspended,
            Self::NoApiAccess => ErrorCode::ApiAccessNotAvailableOnCurrentPlan,
            Self::Exhausted { window: QuotaWindow::Day, .. } => ErrorCode::DailyQuotaExceeded,
            Self::Store(_) => ErrorCode::InternalError,
        }
    }
}

/// Admits a request or refuses it, with checks in the order of D7: throttle, key, suspension, plan, requests in flight,
/// quota. `key` is `None` if the request has no well-formed key; `address` is the client's.
///
/// The request is in flight until the returned caller is dropped.
///
/// One query reads key, account, the plan's name and usage; another one counts the request. Nothing is
/// cached, so a revocation, a suspension or a downgrade holds for every request that starts after it. `link`
/// is the link that the request is about. It is read together with the key, which saves a round trip (ADR 56).
pub async fn admit(
    app: &Application,
    key: Option<&ApiKeySecret>,
    address: IpAddr,
    link: Option<LinkId>,
) -> Result<AdmittedRequest, NotAdmitted> {
    let now = app.clock.now();
    let hash = key.map(ApiKeySecret::hash);
    let gate = &app.gatekeeper;
    let trusted = hash.as_ref().is_some_and(|hash| gate.recent_keys.contains(hash, now));
    if !trusted && let Some(throttled) = gate.rejections.exhausted(address, now) {
        return Err(turned_away(throttled, address));
    }
    let outcome = match &hash {
        None => Err(NotAdmitted { reason: Reason::InvalidKey, rate_limits: None }),
        Some(hash) => match identified(app, hash, link).await {
            Err(error) => return Err(NotAdmitted { reason: Reason::Store(error), rate_limits: None }),
            Ok((holder, link)) => {
                let holder = holder.filter(|holder| holder.key.hash == *hash);
                admitted(app, holder, link, ClientNetwork::of(address), now).await
            }
        },
    };
    match &outcome {
        Ok(_) => {
            if let Some(hash) = &hash {
                gate.recent_keys.accepted(hash, now);
            }
        }
        Err(NotAdmitted { reason: Reason::InvalidKey | Reason::Suspended | Reason::NoApiAccess, .. }) => {
            if let Some(hash) = &hash {
                gate.recent_keys.refused(hash);
            }
            // The count decides, so that of many concurrent requests exactly the allowed number get the true reason.
            if let Some(throttled) = gate.rejections.count(address, now) {
                return Err(turned_away(throttled, address));
            }
        }
        Err(NotAdmitted {
            reason:
                Reason::AddressThrottled { .. }
                | Reason::TooManyInFlight
                | Reason::Exhausted { .. }
                | Reason::Store(_),
            ..
        }) => {}
    }
    outcome
}

fn turned_away(
    Throttled { retry_after_seconds, is_first, is_tenfold: _ }: Throttled,
    address: IpAddr,
) -> NotAdmitted {
    if is_first {
        tracing::warn!(
            %address,
            retry_after_seconds,
            "an address has reached the limit `throttle-per-minute` of refused requests; it gets 429 until the minute ends"
        );
    }
    NotAdmitted { reason: Reason::AddressThrottled { retry_after_seconds }, rate_limits: None }
}

/// The remaining budget of an account without API access, or when the quota store is unreachable.
const NOTHING: QuotaRemaining = QuotaRemaining { minute: 0, day: 0 };

async fn identified(
    app: &Application,
    hash: &KeyHash,
    link: Option<LinkId>,
) -> Result<(Option<KeyHolder>, Option<Link>), StoreError> {
    match link {
        None => Ok((app.store.key_holder(hash).await?, None)),
        Some(link) => app.store.key_holder_with_link(hash, link).await,
    }
}

async fn admitted(
    app: &Application,
    holder: Option<KeyHolder>,
    link: Option<Link>,
    network: ClientNetwork,
    now: Timestamp,
) -> Result<AdmittedRequest, NotAdmitted> {
    let Some(KeyHolder { key, account, usage }) = holder.filter(|holder| holder.key.is_accepted(now)) else {
        return Err(NotAdmitted { reason: Reason::InvalidKey, rate_limits: None });
    };
    let plan = plan_of(app, &account, now).filter(|plan| plan.api_access);
    let budget = plan.map_or(RequestBudget { per_minute: 0, per_day: 0 }, |plan| plan.budget);
    if account.is_suspended() {
        // The account is refused even if the quota store is unreachable.
        let remaining = app.quota.remaining(account.id, budget, now).await.unwrap_or(NOTHING);
        let rate_limits = Some(RateLimits { budget, remaining });
        return Err(NotAdmitted { reason: Reason::Suspended, rate_limits });
    }
    let Some(plan) = plan else {
        let rate_limits = Some(RateLimits { budget, remaining: NOTHING });
        return Err(NotAdmitted { reason: Reason::NoApiAccess, rate_limits });
    };
    // This check comes before the quota, so that a request that it refuses is not counted.
    let Some(permit) = app.gatekeeper.in_flight.request(account.id) else {
        let remaining = app.quota.remaining(account.id, budget, now).await.unwrap_or(NOTHING);
        let rate_limits = Some(RateLimits { budget, remaining });
        return Err(NotAdmitted { reason: Reason::TooManyInFlight, rate_limits });
    };
    let decision = match app.quota.admit(account.id, budget, now).await {
        Ok(decision) => decision,
        Err(error) => {
            // A store that cannot be written can often still be read.
            let remaining = app.quota.remaining(account.id, budget, now).await;
            return Err(broken(error, budget, remaining.ok()));
        }
    };
    match decision {
        QuotaDecision::Admitted { remaining } => {
            app.gatekeeper.recent_uses.note_key(&key, now);
            Ok(AdmittedRequest {
                caller: Caller {
                    plan: plan.clone(),
                    account,
                    usage,
                    actor: Actor::Key(key.id),
                    network,
                    permissions: key.permissions(),
                    permit,
                },
                rate_limits: RateLimits { budget, remaining },
                read_ahead: link,
            })
        }
        QuotaDecision::Exhausted { window, remaining } => {
            let way_out = way_out(app, account.id, budget, window);
            if app.gatekeeper.exhausted_accounts.is_due(&account.id, now) {
                log_exhausted(&account, window, way_out.as_ref());
            }
            let retry_after_seconds = window.resets_in_seconds(now);
            Err(NotAdmitted {
                reason: Reason::Exhausted { window, retry_after_seconds, way_out },
                rate_limits: Some(RateLimits { budget, remaining }),
            })
        }
    }
}

/// The account's plan; `None` if this node does not know it.
pub(super) fn plan_of<'a>(app: &'a Application, account: &Account, now: Timestamp) -> Option<&'a Plan> {
    let plan = app.plans.get(&account.plan);
    if plan.is_none() && app.gatekeeper.unknown_plans.is_due(&account.plan, now) {
        tracing::warn!(
            plan = %account.plan,
            account = %account.id,
            "an account was refused because this node does not know its plan: define it in the file of the setting `plans`, or give the account another with `signpost account set-plan`"
        );
    }
    plan
}

fn way_out(
    app: &Application,
    account: AccountId,
    budget: RequestBudget,
    window: QuotaWindow,
) -> Option<WayOut> {
    app.plans.roomier_than(budget, window).map(|plan| WayOut { account, plan: plan.name.clone() })
}

/// A newcomer is their own operator, and reads this in the terminal of the program.
fn log_exhausted(account: &Account, window: QuotaWindow, way_out: Option<&WayOut>) {
    let window = match window {
        QuotaWindow::Minute => "minute",
        QuotaWindow::Day => "day (UTC)",
    };
    let (account, plan) = (account.id, &account.plan);
    let advice = way_out.map_or_else(String::new, |WayOut { account, plan }| {
        format!(
            "; if the account is your own, lift the limit with `signpost account set-plan {account} {plan}`"
        )
    });
    tracing::info!(
        %account,
        %plan,
        "an account has used up the requests that its plan allows in a {window}, and gets 429 until the {window} ends{advice}"
    );
}

/// The quota store broke. The account is known, so the answer has its budget (D17). An unknown remainder is given as zero.
fn broken(error: StoreError, budget: RequestBudget, remaining: Option<QuotaRemaining>) -> NotAdmitted {
    let remaining = remaining.unwrap_or(NOTHING);
    NotAdmitted { reason: Reason::Store(error), rate_limits: Some(RateLimits { budget, remaining }) }
}
