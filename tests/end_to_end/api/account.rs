//! `GET /v1/account` (D32).

use serde_json::json;

use crate::harness::Program;

#[test]
fn d32_the_account_shows_its_plan_its_limits_and_its_usage() {
    let program = Program::builder().builtin_plans().start();
    let account = program.account("agency");
    account.create_group("a");
    account.new_redirect();
    account.new_redirect();
    let shown = account.get("/v1/account").expect_status(200).body;
    assert_eq!(
        shown,
        json!({
            "id": account.id(),
            "object": "account",
            "email": shown["email"],
            "name": null,
            "plan": "agency",
            "features": ["custom_domains", "pixels", "geo_blocking", "antibot"],
            "limits": {
                "links": 1_000_000, "groups": 10_000, "domains": 500, "pixels": 500, "analytics_days": 1_096,
                "requests_per_minute": 120, "requests_per_day": 10_000
            },
            "usage": {"links": 2, "groups": 1, "domains": 0, "pixels": 0}
        })
    );
    assert!(shown["email"].as_str().unwrap().ends_with("@example.com"));
}

#[test]
fn d32_the_name_is_the_one_that_was_given() {
    let program = Program::start();
    let created =
        program.command(&["account", "create", "--json", "--email", "ann@example.com", "--name", "Ann & Co"]);
    let key = program.issue_key(created["id"].as_str().unwrap());
    let shown = program.with_key(&key).get("/v1/account").expect_status(200).body;
    assert_eq!((&shown["name"], &shown["email"]), (&json!("Ann & Co"), &json!("ann@example.com")));
}
