//! What must hold for every endpoint, the ones that nobody has written yet included: the route table is walked, and
//! a route that this file does not know fails it.

use serde_json::{Value, json};
use signpost_http::{Access, RouteInfo, RouteMethod, route_table};

use crate::harness::{Answer, Api, bare, request};

const UNKNOWN_DIGITS: &str = "00000000000000000000000000000000";

/// A body that the endpoint accepts, if it takes one.
fn body_for(route: &RouteInfo) -> Option<Value> {
    match (route.method, route.pattern) {
        (RouteMethod::Post, "/v1/redirects") => {
            Some(json!({"name": "a", "target_url": "https://example.com/"}))
        }
        (RouteMethod::Patch, "/v1/redirects/{id}" | "/v1/landings/{id}") => Some(json!({"note": "x"})),
        (RouteMethod::Post, "/v1/landings") => Some(json!({"title": "a"})),
        (RouteMethod::Post, "/v1/redirects/bulk") => Some(json!({"redirects": [{}]})),
        (RouteMethod::Post, "/v1/redirects/bulk/delete") => Some(json!({"redirect_ids": ["x"]})),
        (RouteMethod::Post, "/v1/landings/bulk/delete") => Some(json!({"landing_ids": ["x"]})),
        (RouteMethod::Post, "/v1/groups/{id}/assign" | "/v1/groups/{id}/unassign") => {
            Some(json!({"link_ids": ["x"]}))
        }
        (RouteMethod::Post, "/v1/pixels") => {
            Some(json!({"pixel_type": "meta", "pixel_id": "123456789012345"}))
        }
        (RouteMethod::Post, "/v1/domains") => Some(json!({"hostname": "new.shop.com"})),
        (RouteMethod::Post, "/v1/groups") | (RouteMethod::Patch, "/v1/groups/{id}") => {
            Some(json!({"name": "b"}))
        }
        (
            RouteMethod::Get,
            "/v1/redirects"
            | "/v1/redirects/{id}"
            | "/v1/landings"
            | "/v1/landings/{id}"
            | "/v1/groups"
            | "/v1/groups/{id}"
            | "/v1/domains"
            | "/v1/domains/{id}"
            | "/v1/pixels"
            | "/v1/pixels/{id}"
            | "/v1/analytics"
            | "/v1/analytics/clicks"
            | "/v1/redirects/{id}/analytics"
            | "/v1/redirects/{id}/analytics/clicks"
            | "/v1/landings/{id}/analytics"
            | "/v1/landings/{id}/analytics/clicks"
            | "/v1/account"
            | "/health/live"
            | "/health/ready"
            | "/health/links"
            | "/tls-allowed"
            | "/openapi.json"
            | "/docs"
            | "/docs/{file}",
        )
        | (
            RouteMethod::Delete,
            "/v1/redirects/{id}" | "/v1/landings/{id}" | "/v1/groups/{id}" | "/v1/domains/{id}"
            | "/v1/pixels/{id}",
        )
        | (RouteMethod::Post, "/v1/domains/{id}/verify") => None,
        unknown => panic!("what does {unknown:?} take? tell this test"),
    }
}

async fn call(api: &Api, route: &RouteInfo, path: &str, key: Option<&str>) -> Answer {
    let method = route.method.as_str();
    let call = key.map_or_else(|| bare(method, path), |key| request(method, path, key));
    api.send(match body_for(route) {
        Some(body) => call.set_json(body),
        None => call,
    })
    .await
}

fn with_id(route: &RouteInfo, id: &str) -> String {
    route.pattern.replace("{id}", id).replace("{file}", "start.js")
}

/// The endpoint's path, with the parameters that it must have.
fn with_required(route: &RouteInfo, id: &str) -> String {
    let path = with_id(route, id);
    match route.pattern {
        "/tls-allowed" => format!("{path}?domain=go.shop.com"),
        pattern if pattern.contains("/analytics") => format!("{path}?start_date=0&end_date=1"),
        _ => format!("{path}?"),
    }
}

/// The endpoint's path, with the parameters that it must have, and perhaps another one.
fn with_query(route: &RouteInfo, more: &str) -> String {
    format!("{}&{more}", with_required(route, "x"))
}

fn admitted() -> impl Iterator<Item = &'static RouteInfo> {
    route_table().iter().filter(|route| route.access == Access::Admitted)
}

#[actix_web::test]
async fn every_endpoint_under_v1_needs_a_key_and_a_plan_with_the_api() {
    let api = Api::start().await;
    let (_, free_key) = api.account("bob@example.com", "free").await;
    for route in admitted() {
        let path = with_id(route, "rdr_1");
        assert_eq!(call(&api, route, &path, None).await.error(), (401, "invalid_api_key"), "{route:?}");
        let refused = call(&api, route, &path, Some(&free_key)).await;
        assert_eq!(refused.error(), (403, "api_access_not_available_on_current_plan"), "{route:?}");
        api.memory.clock.advance(std::time::Duration::from_mins(1));
    }
}

#[actix_web::test]
async fn every_other_endpoint_needs_none() {
    let api = Api::start().await;
    api.active_domain("go.shop.com").await;
    for route in route_table().iter().filter(|route| route.access == Access::Open) {
        assert_eq!(call(&api, route, &with_query(route, ""), None).await.status, 200, "{route:?}");
    }
}

/// D2: a caller can never tell "not yours" from "does not exist".
#[actix_web::test]
async fn d2_foreign_unknown_and_malformed_ids_get_one_and_the_same_answer() {
    let api = Api::start().await;
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    for route in admitted().filter(|route| route.pattern.contains("{id}")) {
        let (own, prefix, code) = match route.pattern {
            "/v1/redirects/{id}" | "/v1/redirects/{id}/analytics" | "/v1/redirects/{id}/analytics/clicks" => {
                (api.redirect("mine").await, "rdr_", "redirect_not_found")
            }
            "/v1/landings/{id}" | "/v1/landings/{id}/analytics" | "/v1/landings/{id}/analytics/clicks" => {
                (api.landing("mine").await, "lnd_", "landing_not_found")
            }
            "/v1/groups/{id}" | "/v1/groups/{id}/assign" | "/v1/groups/{id}/unassign" => {
                (api.group("mine").await, "grp_", "group_not_found")
            }
            "/v1/domains/{id}" | "/v1/domains/{id}/verify" => {
                let domain = api.domain("go.shop.com").await;
                (domain["id"].as_str().unwrap().to_owned(), "dom_", "domain_not_found")
            }
            // Pixels have no code of their own (D6).
            "/v1/pixels/{id}" => (api.pixel().await, "pxl_", "invalid_request"),
            unknown => panic!("what does {unknown} need? tell this test"),
        };
        let mut ids = vec![
            own.clone(),
            format!("{prefix}{UNKNOWN_DIGITS}"),
            own.to_uppercase(),
            own.replace(prefix, ""),
            format!("{own}0"),
            own[..own.len() - 1].to_owned(),
            "%FF%FE".to_owned(),
            "%zz".to_owned(),
            "%00".to_owned(),
            "a%2Fb".to_owned(),
            "x".repeat(5_000),
        ];
        let others =
            ["rdr_", "lnd_", "grp_", "dom_", "pxl_", "wgt_"].into_iter().filter(|other| *other != prefix);
        ids.extend(others.map(|other| own.replace(prefix, other)));
        let mut answers = Vec::new();
        for id in ids.drain(..) {
            let answer = call(&api, route, &with_required(route, &id), Some(&stranger)).await;
            assert_eq!(answer.error(), (404, code), "{route:?} {id}");
            answers.push(answer);
            api.memory.clock.advance(std::time::Duration::from_mins(1));
        }
        for answer in &mut answers {
            answer.body["error"]["request_id"].take();
        }
        assert!(answers.iter().all(|answer| answer.body == answers[0].body), "{answers:?}");
        // It was there all the time, for its owner.
        let status = call(&api, route, &with_required(route, &own), Some(&api.key)).await.status;
        // A second export within a minute is refused once its link is found (D66).
        let is_export = route.pattern.ends_with("/clicks");
        assert!(status == 200 || (is_export && status == 429), "{route:?}: {status}");
        if route.method != RouteMethod::Delete {
            let resource = route.pattern.split("/{id}").next().unwrap();
            api.call("DELETE", &format!("{resource}/{own}")).await.id(200);
        }
    }
}

#[actix_web::test]
async fn d8_every_endpoint_refuses_a_parameter_that_it_does_not_know() {
    let api = Api::start().await;
    for route in route_table() {
        let answer = call(&api, route, &with_query(route, "nonsense=1"), Some(&api.key)).await;
        assert_eq!(answer.violations(), [("nonsense", "unknown_field")], "{route:?}");
    }
}

/// Whether the endpoint takes a body; `verify` takes an empty object.
fn takes_body(route: &RouteInfo) -> bool {
    body_for(route).is_some() || route.pattern == "/v1/domains/{id}/verify"
}

#[actix_web::test]
async fn d10_every_endpoint_that_takes_a_body_refuses_one_that_is_no_json() {
    let api = Api::start().await;
    for route in route_table().iter().filter(|route| takes_body(route)) {
        let call = || request(route.method.as_str(), &with_query(route, ""), &api.key);
        let text = call().insert_header(("content-length", "4")).set_payload("oops");
        assert_eq!(api.send(text).await.error(), (415, "unsupported_media_type"), "{route:?}");
        let json = call().insert_header(("content-length", "4")).set_payload("oops");
        let json = json.insert_header(("content-type", "application/json"));
        assert_eq!(api.send(json).await.violations(), [("body", "invalid_json")], "{route:?}");
        let unknown = call().set_json(json!({"nonsense": 1})).insert_header(("content-length", "14"));
        assert!(api.send(unknown).await.violations().contains(&("nonsense", "unknown_field")), "{route:?}");
        api.memory.clock.advance(std::time::Duration::from_mins(1));
    }
}

/// Contract D8: it would be dropped in silence. Its headers are enough to tell: whether it is JSON, how large it is and
/// whether it ever arrives makes no difference.
#[actix_web::test]
async fn d8_every_endpoint_without_a_body_refuses_one_by_its_headers() {
    let api = Api::start().await;
    for route in route_table().iter().filter(|route| !takes_body(route)) {
        for (name, value) in [
            ("content-length", "2"),
            ("content-length", "1048577"),
            ("content-length", "18446744073709551615"),
            ("transfer-encoding", "chunked"),
        ] {
            let call = request(route.method.as_str(), &with_query(route, ""), &api.key);
            let answer = api.send(call.insert_header((name, value))).await;
            assert_eq!(answer.violations(), [("body", "unknown_field")], "{route:?} {name}: {value}");
        }
        let empty = request(route.method.as_str(), &with_query(route, ""), &api.key)
            .insert_header(("content-type", "text/plain"))
            .insert_header(("content-length", "0"));
        assert_ne!(api.send(empty).await.status, 400, "{route:?}");
        api.memory.clock.advance(std::time::Duration::from_mins(1));
    }
}

#[actix_web::test]
async fn every_path_answers_head_where_it_answers_get() {
    let api = Api::start().await;
    for route in route_table() {
        let path = with_id(route, "x");
        let head = api.call("HEAD", &path).await;
        let takes_get = route_table()
            .iter()
            .any(|other| other.pattern == route.pattern && other.method == RouteMethod::Get);
        assert_eq!(head.status != 405, takes_get, "{route:?}");
    }
}
