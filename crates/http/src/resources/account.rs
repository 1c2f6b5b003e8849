//! The caller's account: `GET /v1/account` (D32).

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use signpost_app::Caller;
use signpost_domain::{Account, AccountId, Feature, Plan, PlanLimits, RequestBudget, Usage};

use crate::api_error::ApiError;
use crate::endpoint::RouteMethod;
use crate::extract::{Admitted, NoInput};
use crate::openapi::operation::{Endpoint, ok};
use crate::schema::{
    Components, count, id, kind, list, matching, named, one_of_known, open_object, shown, string,
};
use crate::sections::Section;
use crate::wire::{self, Text};

const EXAMPLE_ID: &str = "acc_019b5a3a00117b2c9d0e1f2a3b4c5d6e";

/// What the API says about accounts.
pub(crate) static SECTION: Section = Section {
    tag: "Account",
    description: "The account that the key belongs to.",
    endpoints,
    schemas: components,
    parameters: Vec::new,
};

shown! {
    /// The caller's account with the limits of its plan and its usage.
    pub(crate) struct AccountBody {
        id: Text<AccountId> = id(EXAMPLE_ID, "The account's id."),
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
fn components() -> Components {
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

/// The endpoints, in the order of the documentation page.
fn endpoints() -> Vec<Endpoint> {
    vec![Endpoint {
        summary: "Retrieve the account",
        description: "Shows the account of the key, with the limits of its plan and its usage.",
        success: ok("The account.", "Account", example()),
        ..Endpoint::new("getAccount", RouteMethod::Get, "/v1/account", || web::to(get))
    }]
}

/// The account of the examples.
fn example() -> Value {
    json!({
        "id": EXAMPLE_ID,
        "object": "account",
        "email": "ada@example.com",
        "name": "Ada",
        "plan": "agency",
        "features": ["custom_domains", "pixels", "geo_blocking", "antibot"],
        "limits": {
            "links": 1_000_000,
            "groups": 10_000,
            "domains": 500,
            "pixels": 500,
            "analytics_days": 1_096,
            "requests_per_minute": 120,
            "requests_per_day": 10_000,
        },
        "usage": {"links": 1_234, "groups": 12, "domains": 2, "pixels": 0},
    })
}
