//! The caller's account: `GET /v1/account` (D32).

use actix_web::HttpResponse;
use signpost_app::Caller;
use signpost_domain::{Account, AccountId, Feature, Plan, PlanLimits, RequestBudget, Usage};

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput};
use crate::schema::{
    Components, count, id, kind, list, matching, named, one_of_known, open_object, shown, string,
};
use crate::wire::{self, Text};

shown! {
    /// The caller's account with the limits of its plan and its usage.
    pub(crate) struct AccountBody {
        id: Text<AccountId> = id("acc", "The account's id."),
        object: &'static str = kind("account"),
        email: String = string("The address of the owner.").max_length(Some(254)).examples(["ada@example.com"]),
        name: Option<String> = string("The account's name; null if it has none.").examples(["Ada"]),
        plan: String =
            matching(string("The plan's name; the operator decides which plans there are."), "^[a-z0-9_-]{1,32}$")
                .examples(["agency"]),
        features: Vec<&'static str> = list(
            "The features of the plan. An open list: `custom_domains`, `pixels`, `geo_blocking` and `antibot` at \
             present.",
            one_of_known(string("A feature."), Feature::ALL.map(Feature::as_str)),
        )
        .unique_items(true),
        limits: Limits = named("AccountLimits"),
        usage: UsageBody = named("AccountUsage"),
    }
}

shown! {
    struct Limits {
        links: u64 = count("Landing pages and redirects together."),
        groups: u64 = count("Groups."),
        domains: u64 = count("Custom domains."),
        pixels: u64 = count("Pixels."),
        analytics_days: u32 = count("The longest period of analytics, in days."),
        requests_per_minute: u32 = count("Requests in one calendar minute."),
        requests_per_day: u32 = count("Requests in one calendar day, UTC."),
    }
}

shown! {
    struct UsageBody {
        links: u64 = count("Landing pages and redirects together."),
        groups: u64 = count("Groups."),
        domains: u64 = count("Custom domains."),
        pixels: u64 = count("Pixels."),
    }
}

impl From<&Caller> for AccountBody {
    fn from(caller: &Caller) -> Self {
        // Suspended accounts and accounts without a plan are not admitted.
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

/// The OpenAPI component of the account.
pub(crate) fn components() -> Components {
    vec![
        ("Account", open_object("The caller's account.", AccountBody::properties()).into()),
        ("AccountLimits", open_object("The limits of the plan.", Limits::properties()).into()),
        ("AccountUsage", open_object("The current usage.", UsageBody::properties()).into()),
    ]
}

/// `GET /v1/account`: admission has read the account, so this runs no query.
pub(crate) async fn get(caller: Admitted, _: NoInput) -> Result<HttpResponse, ApiError> {
    let caller: &Caller = &caller;
    wire::ok(&AccountBody::from(caller))
}
