//! `GET /v1/account` (D32).

use serde_json::{Map, Value, json};
use signpost_domain::{PlanLimits, PlanResource};

use crate::harness::Api;

#[actix_web::test]
async fn d32_the_account_shows_its_plan_limits_and_usage() {
    let api = Api::start().await;
    api.redirect("a").await;
    api.redirect("b").await;
    api.group("Spring").await;
    let counts = |count: fn(PlanResource) -> u64| -> Map<String, Value> {
        let named = PlanResource::ALL.map(|resource| (resource.as_str().to_owned(), count(resource).into()));
        named.into_iter().collect()
    };
    let mut limits = counts(|resource| PlanLimits::AGENCY.of(resource));
    limits.extend([
        ("analytics_days".to_owned(), 1_096.into()),
        ("requests_per_minute".to_owned(), 120.into()),
        ("requests_per_day".to_owned(), 10_000.into()),
    ]);
    assert_eq!([&limits["links"], &limits["groups"], &limits["domains"]], [1_000_000, 10_000, 500]);
    let usage = counts(|resource| match resource {
        PlanResource::Links => 2,
        PlanResource::Groups => 1,
        _ => 0,
    });
    let expected = json!({
        "id": api.account.to_string(), "object": "account", "email": "ada@example.com", "name": null,
        "plan": "agency", "features": ["custom_domains", "pixels", "geo_blocking", "antibot", "link_access", "routing", "link_previews"],
        "limits": limits,
        "usage": usage,
    });
    assert_eq!(api.call("GET", "/v1/account").await.body, expected);
}
