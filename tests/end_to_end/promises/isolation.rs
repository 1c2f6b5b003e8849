//! R1: two accounts never see each other's things (D2), on every route there is.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use signpost_http::{RouteInfo, route_table};

use crate::harness::domains::{DomainScene, connect, listed, path_of, shown};
use crate::harness::{Account, Answer, Program, redirect_body};

/// What each route is sent with the id in its path, or that it has none. A route that is not here fails the test.
fn probe(route: &RouteInfo, account: &Account, id: &str) -> Option<Answer> {
    let path = route.pattern.replace("{id}", id);
    match (route.method.as_str(), route.pattern) {
        (
            "GET",
            "/health/live" | "/health/ready" | "/health/links" | "/openapi.json" | "/docs" | "/docs/{file}"
            | "/v1/account" | "/v1/redirects" | "/v1/landings" | "/v1/groups" | "/v1/pixels" | "/v1/domains"
            // What it tells of anybody's hostname, a visitor of the hostname finds out too.
            | "/tls-allowed"
            // Their links are named in filters; see below.
            | "/v1/analytics" | "/v1/analytics/clicks",
        )
        | (
            "POST",
            "/v1/redirects" | "/v1/landings" | "/v1/groups" | "/v1/pixels" | "/v1/domains" | "/v1/redirects/bulk"
            // Their ids stand in the body; see below.
            | "/v1/redirects/bulk/delete" | "/v1/landings/bulk/delete",
        ) => None,
        (
            "GET" | "DELETE",
            "/v1/redirects/{id}" | "/v1/landings/{id}" | "/v1/groups/{id}" | "/v1/pixels/{id}"
            | "/v1/domains/{id}",
        ) => Some(account.send(route.method.as_str(), &path, None)),
        (
            "GET",
            "/v1/redirects/{id}/analytics" | "/v1/redirects/{id}/analytics/clicks" | "/v1/landings/{id}/analytics"
            | "/v1/landings/{id}/analytics/clicks",
        ) => Some(account.get(&format!("{path}?start_date=0&end_date=86400000"))),
        ("POST", "/v1/domains/{id}/verify") => Some(account.post(&path, &json!({}))),
        ("PATCH", "/v1/redirects/{id}" | "/v1/groups/{id}") => {
            Some(account.patch(&path, &json!({"name": "taken over"})))
        }
        ("PATCH", "/v1/landings/{id}") => Some(account.patch(&path, &json!({"title": "taken over"}))),
        ("POST", "/v1/groups/{id}/assign" | "/v1/groups/{id}/unassign") => {
            let own = account.new_redirect()["id"].clone();
            Some(account.post(&path, &json!({"link_ids": [own]})))
        }
        unknown => panic!("tell this test how to probe {unknown:?}"),
    }
}

fn resource(account: &Account, pattern: &str) -> String {
    let made = if pattern.contains("redirects") {
        account.new_redirect()
    } else if pattern.contains("landings") {
        account.post("/v1/landings", &json!({"title": "x"})).expect_status(201).body
    } else if pattern.contains("pixels") {
        let body = json!({"pixel_type": "meta", "pixel_id": "123456789012345"});
        account.post("/v1/pixels", &body).expect_status(201).body
    } else if pattern.contains("domains") {
        connect(account, &fresh_hostname())
    } else {
        account.create_group("g")
    };
    made["id"].as_str().unwrap().to_owned()
}

/// A hostname that no other call in this process gives.
fn fresh_hostname() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("go.shop{}.test", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn d2_foreign_unknown_and_malformed_ids_are_answered_alike_on_every_route() {
    // The name server knows no hostname, which is an answer too (D42).
    let scene = DomainScene::start();
    let program = scene.first();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let mut probed = 0;
    for route in route_table() {
        // An account exports clicks once a minute.
        let exporting = route.pattern.ends_with("/clicks").then(|| program.account("agency"));
        let one = exporting.as_ref().unwrap_or(&one);
        let Some(own) = probe(route, one, &resource(one, route.pattern)) else { continue };
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
        .map(|id| probe(route, one, &id).unwrap());
        for answer in &answers {
            assert_eq!(answer.status, 404, "{route:?}: {answer:?}");
            assert_eq!(comparable(answer), comparable(&answers[0]));
        }
        assert_eq!(everything(&other), before, "nothing of the other account changed");
        probed += 1;
    }
    assert_eq!(probed, 20);
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
    let theirs = other.walk("/v1/redirects", "")[0]["id"].as_str().unwrap().to_owned();
    for filter in [format!("group_id={group}"), format!("link={theirs}")] {
        let answer = one.get(&format!("/v1/analytics?start_date=0&end_date=86400000&{filter}"));
        let counted = answer.body.pointer("/totals/clicks").is_none_or(|clicks| *clicks == json!(0));
        assert!(counted && answer.status < 500, "{filter}: {answer:?}");
    }
    let page = other.get("/v1/redirects?limit=1").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    one.get(&format!("/v1/redirects?cursor={cursor}")).expect_violations(&[("cursor", "invalid_format")]);
    assert_eq!(everything(&other), before);
    assert_eq!(one.walk("/v1/redirects", "").len(), 1);
}

/// R1: ids in the bodies of bulk operations are answered as if there were nothing with them.
#[test]
fn d31_ids_of_another_account_in_a_batch_are_ids_of_nothing() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let landing = |account: &Account| resource(account, "landings");
    let foreign = [other.new_redirect()["id"].as_str().unwrap().to_owned(), landing(&other)];
    let unknown = ["rdr_", "lnd_"].map(|prefix| format!("{prefix}{}", "0".repeat(32)));
    let group = resource(&one, "groups");
    let theirs = resource(&other, "groups");
    other.post(&format!("/v1/groups/{theirs}/assign"), &json!({"link_ids": foreign})).expect_status(200);
    let before = everything(&other);
    for (path, field) in [
        ("/v1/redirects/bulk/delete".to_owned(), "redirect_ids"),
        ("/v1/landings/bulk/delete".to_owned(), "landing_ids"),
        (format!("/v1/groups/{group}/assign"), "link_ids"),
        (format!("/v1/groups/{group}/unassign"), "link_ids"),
    ] {
        // The only difference is the id itself, which is sent back.
        let [foreign, unknown] = [&foreign, &unknown].map(|ids| {
            let answer = one.post(&path, &json!({field: ids})).expect_status(200).body;
            assert_eq!(answer["failed_count"], 2, "{answer}");
            ids.iter().fold(answer.to_string(), |text, id| text.replace(id.as_str(), "<id>"))
        });
        assert_eq!(foreign, unknown, "{path}");
    }
    assert_eq!(everything(&other), before);
    let item = json!({"name": "x", "target_url": "https://example.com", "group_id": theirs});
    let answer = one.post("/v1/redirects/bulk", &json!({"redirects": [item]})).expect_status(200).body;
    assert_eq!(answer["failed"][0]["error"]["code"], "group_not_found");
    assert_eq!(everything(&other), before);
}

/// R1: another account's hostname in a body or a filter, in whatever status it is, is one that nobody has (D23).
#[test]
fn d23_hostnames_of_another_account_are_hostnames_of_nothing() {
    let scene = DomainScene::start();
    let [one, _] = scene.clients();
    let [other, _] = scene.clients();
    let active = scene.activate(&other, "active.shop.test");
    connect(&other, "pending.shop.test");
    let removed = connect(&other, "removed.shop.test");
    other.delete(&path_of(&removed)).expect_status(200);
    other.create_redirect(&redirect_body(json!({"domain": "active.shop.test", "slug": "x"})));
    other.create_redirect(&redirect_body(json!({"domain": "active.shop.test", "slug": null})));
    let mine = one.new_redirect();
    let page = one.post("/v1/landings", &json!({"title": "x"})).expect_status(201).body;
    let before = everything(&other);
    let probe = |hostname: &str| {
        let place = json!({"domain": hostname, "slug": "x"});
        let item = redirect_body(place.clone());
        let refused = [
            one.post("/v1/redirects", &item),
            one.post("/v1/landings", &json!({"title": "x", "domain": hostname})),
            one.patch(&path_of(&mine), &place),
            one.patch(&path_of(&page), &json!({"domain": hostname})),
        ];
        let mut told: Vec<String> = refused
            .into_iter()
            .map(|answer| {
                let answer = answer.expect_error(404, "domain_not_found");
                answer.without_request_id().to_string()
            })
            .collect();
        let bulk = one.post("/v1/redirects/bulk", &json!({"redirects": [item]})).expect_status(200).body;
        assert_eq!(bulk["failed"][0]["error"]["code"], "domain_not_found");
        told.push(bulk.to_string());
        for list in ["/v1/redirects", "/v1/landings"] {
            told.push(one.get(&format!("{list}?domain={hostname}")).expect_status(200).body.to_string());
        }
        // The only difference is the hostname itself, which may be sent back.
        told.into_iter().map(|told| told.replace(hostname, "<hostname>")).collect::<Vec<_>>()
    };
    let unknown = probe("nobodys.shop.test");
    for hostname in ["active.shop.test", "ACTIVE.shop.test", "pending.shop.test", "removed.shop.test"] {
        assert_eq!(probe(hostname), unknown, "{hostname}");
    }
    let page = other.get("/v1/domains?limit=1").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    one.get(&format!("/v1/domains?cursor={cursor}")).expect_violations(&[("cursor", "invalid_format")]);
    assert_eq!(everything(&other), before);
    assert_eq!(one.walk("/v1/redirects", "").len(), 1);
    assert_eq!(shown(&other, &active), active);
}

fn everything(account: &Account) -> [Vec<Value>; 6] {
    [
        account.walk("/v1/redirects", ""),
        account.walk("/v1/landings", ""),
        account.walk("/v1/groups", ""),
        account.walk("/v1/pixels", ""),
        listed(account),
        vec![account.get("/v1/account").body],
    ]
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
