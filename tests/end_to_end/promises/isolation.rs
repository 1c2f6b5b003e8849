//! R1: two accounts never see each other's things (D2), on every route there is.

use serde_json::{Value, json};
use signpost_http::{RouteInfo, route_table};

use crate::harness::{Account, Answer, Program};

/// What each route is sent with the id in its path, or that it has none. A route that is not here fails the test.
fn probe(route: &RouteInfo, account: &Account, id: &str) -> Option<Answer> {
    let path = route.pattern.replace("{id}", id);
    match (route.method.as_str(), route.pattern) {
        (
            "GET",
            "/health/live" | "/health/ready" | "/health/links" | "/v1/account" | "/v1/redirects"
            | "/v1/groups",
        )
        | ("POST", "/v1/redirects" | "/v1/groups") => None,
        ("GET" | "DELETE", "/v1/redirects/{id}" | "/v1/groups/{id}") => {
            Some(account.send(route.method.as_str(), &path, None))
        }
        ("PATCH", "/v1/redirects/{id}" | "/v1/groups/{id}") => {
            Some(account.patch(&path, &json!({"name": "taken over"})))
        }
        unknown => panic!("tell this test how to probe {unknown:?}"),
    }
}

fn resource(account: &Account, pattern: &str) -> String {
    let made = if pattern.contains("redirects") { account.new_redirect() } else { account.create_group("g") };
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn d2_foreign_unknown_and_malformed_ids_are_answered_alike_on_every_route() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let mut probed = 0;
    for route in route_table() {
        let Some(own) = probe(route, &one, &resource(&one, route.pattern)) else { continue };
        assert_eq!(own.status, 200, "{route:?}");
        let foreign = resource(&other, route.pattern);
        let before = everything(&other);
        let prefix = &foreign[..4];
        let answers = [
            foreign.clone(),
            format!("{prefix}{}", "0".repeat(32)),
            format!("{prefix}{}", "A".repeat(32)),
            "nonsense".to_owned(),
        ]
        .map(|id| probe(route, &one, &id).unwrap());
        for answer in &answers {
            assert_eq!(answer.status, 404, "{route:?}: {answer:?}");
            assert_eq!(comparable(answer), comparable(&answers[0]));
        }
        assert_eq!(everything(&other), before, "nothing of the other account changed");
        probed += 1;
    }
    assert_eq!(probed, 6);
}

/// Every route under `/v1` refuses a request without a key, and one on a plan without the API.
#[test]
fn d7_no_route_under_v1_lets_anybody_in_unasked() {
    let program = Program::builder().setting("throttle-per-minute", "0").start();
    let free = program.account("free");
    for route in route_table().iter().filter(|route| route.pattern.starts_with("/v1")) {
        let path = route.pattern.replace("{id}", "nonsense");
        let method = route.method.as_str();
        free.send_with(method, &path, &[], None).expect_error(401, "invalid_api_key");
        free.send(method, &path, None).expect_error(403, "api_access_not_available_on_current_plan");
    }
}

#[test]
fn d2_ids_in_bodies_filters_and_cursors_reach_nothing_of_another_account() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let group = resource(&other, "groups");
    let link = json!({"name": "x", "target_url": "https://example.com", "group_id": group});
    other.create_redirect(&link);
    other.create_redirect(&link);
    let before = everything(&other);
    one.post("/v1/redirects", &link).expect_error(404, "group_not_found");
    let mine = format!("/v1/redirects/{}", resource(&one, "redirects"));
    one.patch(&mine, &json!({"group_id": group})).expect_error(404, "group_not_found");
    assert!(one.walk("/v1/redirects", &format!("?group_id={group}")).is_empty());
    let page = other.get("/v1/redirects?limit=1").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    one.get(&format!("/v1/redirects?cursor={cursor}")).expect_violations(&[("cursor", "invalid_format")]);
    assert_eq!(everything(&other), before);
    assert_eq!(one.walk("/v1/redirects", "").len(), 1);
}

fn everything(account: &Account) -> (Vec<Value>, Vec<Value>, Value) {
    let (links, groups) = (account.walk("/v1/redirects", ""), account.walk("/v1/groups", ""));
    (links, groups, account.get("/v1/account").body)
}

/// An answer without what differs between any two requests: the request id, the date, what is left of the budget.
fn comparable(answer: &Answer) -> (Value, Vec<(String, String)>) {
    let varies = ["x-request-id", "date", "ratelimit-remaining-minute", "ratelimit-remaining-day"];
    let mut headers: Vec<_> = answer
        .headers
        .iter()
        .filter(|(name, _)| !varies.contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (answer.without_request_id(), headers)
}
