//! Plans: contract "Authentication" 6, D15, D17.

use serde_json::json;

use crate::harness::{Program, concurrently, rate_limits, redirect_body};

const TINY: &str = r"
[plans.tiny]
api_access = true
requests_per_minute = 100000
requests_per_day = 100000
links = 3
groups = 2
domains = 0
pixels = 0
analytics_days = 31
features = []
";

#[test]
fn authentication_6_the_api_is_part_of_the_agency_plan_only() {
    let program = Program::start();
    for plan in ["free", "pro"] {
        let account = program.account(plan);
        let answer = account.get("/v1/account").expect_error(403, "api_access_not_available_on_current_plan");
        // D17: a plan without the API has limits of 0.
        assert_eq!(rate_limits(&answer), Some([0, 0, 0, 0]));
        account
            .post("/v1/groups", &json!({"name": "x"}))
            .expect_error(403, "api_access_not_available_on_current_plan");
    }
}

#[test]
fn authentication_6_a_downgrade_and_an_upgrade_hold_at_once_for_the_same_key() {
    let program = Program::start();
    let account = program.account("agency");
    for _ in 0..3 {
        account.get("/v1/account").expect_status(200);
        assert!(program.run(&["account", "set-plan", account.id(), "free"]).status.success());
        account.get("/v1/account").expect_error(403, "api_access_not_available_on_current_plan");
        assert!(program.run(&["account", "set-plan", account.id(), "agency"]).status.success());
    }
    account.get("/v1/account").expect_status(200);
}

#[test]
fn limits_the_builtin_agency_plan_has_120_a_minute_and_10000_a_day() {
    let program = Program::builder().builtin_plans().start();
    let answer = program.first_account().get("/v1/account").expect_status(200);
    let [minute, _, day, _] = rate_limits(&answer).unwrap();
    assert_eq!((minute, day), (120, 10_000));
}

#[test]
fn d15_crossing_a_count_is_plan_limit_reached_and_deleting_makes_room() {
    let program = Program::builder().plan(TINY).start();
    let account = program.account("tiny");
    let ids: Vec<_> = (0..3).map(|_| account.new_redirect()["id"].as_str().unwrap().to_owned()).collect();
    let one_more = json!({"name": "x", "target_url": "https://example.com"});
    account.post("/v1/redirects", &one_more).expect_error(403, "plan_limit_reached");
    account.delete(&format!("/v1/redirects/{}", ids[0])).expect_status(200);
    account.post("/v1/redirects", &one_more).expect_status(201);
    account.post("/v1/redirects", &one_more).expect_error(403, "plan_limit_reached");

    let group = account.create_group("a")["id"].as_str().unwrap().to_owned();
    account.create_group("b");
    account.post("/v1/groups", &json!({"name": "c"})).expect_error(403, "plan_limit_reached");
    account.delete(&format!("/v1/groups/{group}")).expect_status(200);
    account.create_group("c");
}

#[test]
fn d15_using_a_feature_that_the_plan_lacks_is_refused() {
    let program = Program::builder().plan(TINY).start();
    let account = program.account("tiny");
    let refused = "feature_not_available_on_current_plan";
    account
        .post("/v1/redirects", &redirect_body(json!({"antibot_enabled": true})))
        .expect_error(403, refused);
    let blocks = json!({"geo_blocklists": {"countries": ["DE"]}});
    account.post("/v1/redirects", &redirect_body(blocks.clone())).expect_error(403, refused);
    let off = json!({"antibot_enabled": false, "geo_blocklists": {"countries": []}});
    let link = account.create_redirect(&redirect_body(off));
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    account.patch(&path, &blocks).expect_error(403, refused);
    account.patch(&path, &json!({"antibot_enabled": true})).expect_error(403, refused);
    assert_eq!(account.get(&path).body, link);
}

#[test]
fn d15_a_downgrade_below_what_there_is_takes_nothing_away_and_admits_nothing_more() {
    let program = Program::builder().plan(TINY).start();
    let account = program.account("agency");
    let rich = json!({"name": "x", "target_url": "https://example.com", "antibot_enabled": true,
        "geo_blocklists": {"countries": ["DE"]}});
    let links: Vec<_> = (0..5).map(|_| account.create_redirect(&rich)).collect();
    assert!(program.run(&["account", "set-plan", account.id(), "tiny"]).status.success());
    let path = format!("/v1/redirects/{}", links[0]["id"].as_str().unwrap());
    assert_eq!(account.get(&path).expect_status(200).body, links[0]);
    let renamed =
        account.patch(&path, &json!({"name": "y", "antibot_enabled": true})).expect_status(200).body;
    assert_eq!((&renamed["name"], &renamed["antibot_enabled"]), (&json!("y"), &json!(true)));
    account
        .post("/v1/redirects", &json!({"name": "x", "target_url": "https://example.com"}))
        .expect_error(403, "plan_limit_reached");
}

/// R4: a limit of N never ends at N + 1.
#[test]
fn d15_a_limit_holds_exactly_under_concurrent_creations() {
    let plan = TINY.replace("plans.tiny", "plans.fifty").replace("links = 3", "links = 50");
    let program = Program::builder().plan(&plan.replace("groups = 2", "groups = 10")).start();
    let account = program.account("fifty");
    let body = json!({"name": "x", "target_url": "https://example.com"});
    let statuses = concurrently(16, |_| {
        (0..8)
            .map(|_| account.post("/v1/redirects", &body))
            .map(|answer| (answer.status, answer.code().to_owned()))
            .collect::<Vec<_>>()
    });
    let statuses: Vec<_> = statuses.into_iter().flatten().collect();
    assert_eq!(statuses.iter().filter(|(status, _)| *status == 201).count(), 50);
    assert!(
        statuses.iter().all(|(status, code)| *status == 201 || code == "plan_limit_reached"),
        "{statuses:?}: {}",
        program.log()
    );
    assert_eq!(account.walk("/v1/redirects", "?limit=100").len(), 50);
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 50);

    let created = concurrently(16, |_| account.post("/v1/groups", &json!({"name": "x"})).status);
    assert_eq!(created.iter().filter(|status| **status == 201).count(), 10);
    assert_eq!(account.get("/v1/account").body["usage"]["groups"], 10);
}
