//! The account (D32).

use serde::Serialize;
use signpost_app::Caller;
use signpost_domain::{Account, AccountId, Feature, Plan, PlanLimits, RequestBudget, Usage};

use super::text::Text;

/// The caller's account with what its plan allows and how much of it is used.
#[derive(Serialize)]
pub(crate) struct AccountBody {
    id: Text<AccountId>,
    object: &'static str,
    email: String,
    name: Option<String>,
    plan: String,
    features: Vec<&'static str>,
    limits: Limits,
    usage: UsageBody,
}

#[derive(Serialize)]
struct Limits {
    links: u64,
    groups: u64,
    domains: u64,
    pixels: u64,
    analytics_days: u32,
    requests_per_minute: u32,
    requests_per_day: u32,
}

#[derive(Serialize)]
struct UsageBody {
    links: u64,
    groups: u64,
    domains: u64,
    pixels: u64,
}

impl From<&Caller> for AccountBody {
    fn from(caller: &Caller) -> Self {
        // An account that is suspended or without a plan is no caller.
        let Account { id, email, name, plan: _, suspended_at: _, created_at: _ } = caller.account();
        let Plan { name: plan, api_access: _, budget, limits, features } = caller.plan();
        Self {
            id: Text(*id),
            object: "account",
            email: email.as_str().to_owned(),
            name: name.as_ref().map(|name| name.as_str().to_owned()),
            plan: plan.as_str().to_owned(),
            features: features.iter().map(Feature::as_str).collect(),
            limits: Limits::new(*limits, *budget),
            usage: UsageBody::from(*caller.usage()),
        }
    }
}

impl Limits {
    const fn new(limits: PlanLimits, budget: RequestBudget) -> Self {
        let PlanLimits { links, groups, domains, pixels, analytics_days } = limits;
        let RequestBudget { per_minute, per_day } = budget;
        Self {
            links,
            groups,
            domains,
            pixels,
            analytics_days,
            requests_per_minute: per_minute,
            requests_per_day: per_day,
        }
    }
}

impl From<Usage> for UsageBody {
    fn from(usage: Usage) -> Self {
        let Usage { links, groups, domains, pixels } = usage;
        Self { links, groups, domains, pixels }
    }
}
