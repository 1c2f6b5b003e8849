//! The caller's account: `GET /v1/account` (D32).

use actix_web::{HttpResponse, web};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use signpost_app::Caller;
use signpost_domain::{Account, AccountId, Feature, Plan, PlanLimits, PlanResource};

use crate::api_error::ApiError;
use crate::endpoint::RouteMethod;
use crate::extract::{Admitted, NoInput};
use crate::openapi::operation::{Endpoint, ok};
use crate::schema::{
    Components, FieldType, Property, always, count, id, kind, list, matching, named, one_of_known,
    open_object, shown, string,
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
        email: String = string("The contact address of the account.").max_length(Some(254)).examples(["ada@example.com"]),
        name: Option<String> = string("The account's name; null if it has none.").examples(["Ada"]),
        plan: String =
            matching(string("The plan's name; the operator decides which plans there are."), "^[a-z0-9_-]{1,32}$")
                .examples(["agency"]),
        features: Vec<&'static str> = list(
            "The features of the plan. An open list: `custom_domains`, `pixels`, `geo_blocking`, `antibot`, \
             `link_access`, `routing` and `link_previews` at present.",
            one_of_known(string("A feature."), Feature::ALL.map(Feature::as_str)),
        )
        .unique_items(true),
        limits: Limits = named("AccountLimits"),
        usage: Counts = named("AccountUsage"),
    }
}

shown! {
    struct Limits {
        ..resources: Counts,
        analytics_days: u32 = count("The longest period of analytics, in days."),
        requests_per_minute: u32 = count("Requests in one calendar minute."),
        requests_per_day: u32 = count("Requests in one calendar day, UTC."),
    }
}

/// A number for each resource that plans limit.
struct Counts([u64; PlanResource::ALL.len()]);

impl Counts {
    fn of(count: impl Fn(PlanResource) -> u64) -> Self {
        Self(PlanResource::ALL.map(count))
    }

    fn properties() -> Vec<Property> {
        let property = |resource: PlanResource| always(resource.as_str(), count(resource.description()));
        PlanResource::ALL.map(property).into()
    }
}

impl FieldType for Counts {}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(PlanResource::ALL.map(PlanResource::as_str).into_iter().zip(self.0))
    }
}

impl From<&Caller> for AccountBody {
    fn from(caller: &Caller) -> Self {
        // Suspended accounts and accounts without a plan are not admitted.
        let Account { id, email, name, plan: _, suspended_at: _, requires_second_factor: _, created_at: _ } =
            caller.account();
        let Plan { name: plan, api_access: _, budget, limits, features } = caller.plan();
        Self {
            id: Text(*id),
            object: "account",
            email: email.as_str().to_owned(),
            name: name.as_ref().map(|name| name.as_str().to_owned()),
            plan: plan.as_str().to_owned(),
            features: features.iter().map(Feature::as_str).collect(),
            limits: Limits {
                resources: Counts::of(|resource| limits.of(resource)),
                analytics_days: limits.analytics_days,
                requests_per_minute: budget.per_minute,
                requests_per_day: budget.per_day,
            },
            usage: Counts::of(|resource| caller.usage().of(resource)),
        }
    }
}

/// The OpenAPI component of the account.
fn components() -> Components {
    vec![
        ("Account", open_object("The caller's account.", AccountBody::properties()).into()),
        ("AccountLimits", open_object("The limits of the plan.", Limits::properties()).into()),
        ("AccountUsage", open_object("The current usage.", Counts::properties()).into()),
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

/// The account of the examples, with the built-in plan `agency`.
fn example() -> Value {
    let counts = |count: fn(PlanResource) -> u64| -> Map<String, Value> {
        let named = PlanResource::ALL.map(|resource| (resource.as_str().to_owned(), count(resource).into()));
        named.into_iter().collect()
    };
    let mut limits = counts(|resource| PlanLimits::AGENCY.of(resource));
    for (name, limit) in [
        ("analytics_days", PlanLimits::AGENCY.analytics_days),
        ("requests_per_minute", 120),
        ("requests_per_day", 10_000),
    ] {
        limits.insert(name.to_owned(), limit.into());
    }
    let usage = counts(|resource| {
        let used = [(PlanResource::Links, 1_234), (PlanResource::Groups, 12), (PlanResource::Domains, 2)];
        used.into_iter().find(|(used, _)| *used == resource).map_or(0, |(_, count)| count)
    });
    json!({
        "id": EXAMPLE_ID,
        "object": "account",
        "email": "ada@example.com",
        "name": "Ada",
        "plan": "agency",
        "features": ["custom_domains", "pixels", "geo_blocking", "antibot", "link_access", "routing", "link_previews"],
        "limits": limits,
        "usage": usage,
    })
}
