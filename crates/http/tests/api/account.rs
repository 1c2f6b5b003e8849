//! `GET /v1/account` (D32).

use serde_json::json;

use crate::harness::Api;

#[actix_web::test]
async fn d32_the_account_shows_its_plan_limits_and_usage() {
    let api = Api::start().await;
    api.redirect("a").await;
    api.redirect("b").await;
    api.group("Spring").await;
    let expected = json!({
        "id": api.account.to_string(), "object": "account", "email": "ada@example.com", "name": null,
        "plan": "agency", "features": ["custom_domains", "pixels", "geo_blocking", "antibot"],
        "limits": {
            "links": 1_000_000, "groups": 10_000, "domains": 500, "pixels": 500, "analytics_days": 1_096,
            "requests_per_minute": 120, "requests_per_day": 10_000,
        },
        "usage": {"links": 2, "groups": 1, "domains": 0, "pixels": 0},
    });
    assert_eq!(api.call("GET", "/v1/account").await.body, expected);
}
