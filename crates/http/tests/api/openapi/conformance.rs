//! The check of answers finds every kind of difference, and the samples fit the tests that iterate over all operations.

use serde_json::{Value, json};
use signpost_api_conformance::Exchange;
use signpost_http::route_table;

use super::DOCUMENT;

const REQUEST_ID: &str = "req_019b5a3c6e2d7f4880112233445566aa";

fn found(method: &str, path: &str, status: u16, headers: &[(&str, &str)], json: Option<&Value>) -> usize {
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let exchange = Exchange { method, path, status, headers: &headers, json };
    DOCUMENT.differences(&exchange).len()
}

#[test]
fn every_kind_of_difference_is_found() {
    let json_type = ("content-type", "application/json");
    let usual = [json_type, ("x-request-id", REQUEST_ID)];
    let live = json!({"status": "ok"});
    assert_eq!(found("GET", "/health/live", 200, &usual, Some(&live)), 0);
    assert_eq!(found("HEAD", "/health/live", 200, &usual, None), 0);
    let with = |header| [usual.as_slice(), &[header]].concat();
    for (status, headers, json) in [
        (204, usual.to_vec(), Some(&live)),
        (200, vec![json_type], Some(&live)),
        (200, vec![json_type, ("x-request-id", "1")], Some(&live)),
        (200, with(("ratelimit-limit-day", "1")), Some(&live)),
        (200, with(("idempotent-replayed", "true")), Some(&live)),
        (200, vec![("content-type", "text/plain"), usual[1]], None),
        (200, usual.to_vec(), Some(&json!({"status": "well"}))),
        (200, usual.to_vec(), Some(&json!({"status": "ok", "more": 1}))),
        (200, usual.to_vec(), Some(&json!({}))),
        (200, usual.to_vec(), None),
    ] {
        assert_eq!(found("GET", "/health/live", status, &headers, json), 1, "{status} {headers:?} {json:?}");
    }
    let many = json!({"error": {"code": "rate_limit_exceeded", "message": "No.", "request_id": REQUEST_ID}});
    assert_eq!(found("GET", "/v1/account", 429, &with(("retry-after", "1")), Some(&many)), 0);
    assert_eq!(found("GET", "/v1/account", 429, &with(("retry-after", "soon")), Some(&many)), 1);
    assert_eq!(found("GET", "/v1/account", 429, &usual, Some(&many)), 1);
}

#[test]
fn undescribed_operations_may_only_answer_with_errors() {
    let error = json!({"error": {"code": "invalid_request", "message": "No.", "request_id": REQUEST_ID}});
    for (method, path) in
        [("GET", "/v1/nothing"), ("PUT", "/v1/account"), ("get", "/v1/account"), ("GET", "/docs/")]
    {
        assert_eq!(found(method, path, 404, &[], Some(&error)), 0, "{method} {path}");
        assert_eq!(found(method, path, 200, &[], Some(&error)), 1, "{method} {path}");
        assert_eq!(found(method, path, 404, &[], Some(&json!({}))), 1, "{method} {path}");
    }
}

#[test]
fn operations_are_found_by_the_routing_rules() {
    let path = |path| DOCUMENT.path_of(path);
    assert_eq!(path("/v1/redirects/bulk"), Some("/v1/redirects/bulk"));
    assert_eq!(path("/v1/redirects/bulky"), Some("/v1/redirects/{id}"));
    assert_eq!(path("/v1/redirects/update-matching"), Some("/v1/redirects/update-matching"));
    assert_eq!(path("/v1/%72edirects/a%2Fb"), Some("/v1/redirects/{id}"));
    assert_eq!(path("/v1/redirects/%zz"), Some("/v1/redirects/{id}"));
    assert_eq!(path("/v1/redirects/"), None);
}

/// Tests that iterate over all operations rely on these samples, and would check nothing without them.
#[test]
fn samples_have_the_inputs_of_their_operation() {
    let sample = |method, template| DOCUMENT.sample(method, template);
    let assign = sample("POST", "/v1/groups/{id}/assign");
    assert_eq!(assign.prefixes().into_iter().collect::<Vec<_>>(), ["grp_", "rdr_"]);
    assert_eq!(assign.path("grp_1"), "/v1/groups/grp_1/assign");
    let ids = [("rdr_".to_owned(), "rdr_1".to_owned())].into();
    let unknown = format!("lnd_{}", "0".repeat(32));
    assert_eq!(assign.body_with(&ids), Some(json!({"link_ids": ["rdr_1", unknown]})));
    let report = sample("GET", "/v1/redirects/{id}/analytics");
    assert!(report.path_with("rdr_1", "x=1").contains("/analytics?start_date="));
    assert_eq!(DOCUMENT.creation("dom_").template, "/v1/domains");
    assert_ne!(DOCUMENT.creation("dom_").fresh_body(1), DOCUMENT.creation("dom_").fresh_body(2));
    let of_tags = DOCUMENT.creation("tag_");
    assert_eq!((of_tags.template.as_str(), of_tags.created_in()), ("/v1/redirects", Some("/v1/tags")));
    assert_ne!(of_tags.fresh_body(1), of_tags.fresh_body(2));
    assert!(DOCUMENT.collections().len() >= 5);
    assert!(DOCUMENT.lists().contains(&"/v1/tags"));
    assert_eq!(DOCUMENT.samples().len(), route_table().len());
}

#[test]
fn holes_are_where_bounds_are() {
    let holes = |method, template| {
        let values = ["", "\0", &"x".repeat(3_000)].map(Value::from);
        DOCUMENT.holes(&DOCUMENT.sample(method, template), &values)
    };
    assert_eq!(holes("POST", "/v1/groups"), [r#"{"name":@}"#]);
    let of_redirects = holes("PATCH", "/v1/redirects/{id}");
    for hole in [
        r#"{"name":@}"#,
        r#"{"target_url":@}"#,
        r#"{"slug":@}"#,
        r#"{"geo_blocklists":{"countries":["DE",@]}}"#,
        r#"{"pixel_ids":["pxl_019b5a3ba0b17d2e9f00112233445566",@]}"#,
        r#"{"tags":["Sale",@]}"#,
    ] {
        assert!(of_redirects.iter().any(|one| one == hole), "{of_redirects:?}");
    }
    for unbounded in ["note", "group_id", "is_active"] {
        assert!(!of_redirects.iter().any(|one| one.contains(unbounded)), "{of_redirects:?}");
    }
    let in_batch = holes("POST", "/v1/redirects/bulk");
    assert_eq!(in_batch[0], r#"{"redirects":["first",@]}"#);
    assert_eq!(in_batch[1], r#"{"redirects":[{"name":@,"target_url":"https://example.com/autumn"}]}"#);
    assert_eq!(
        holes("POST", "/v1/landings").last().unwrap(),
        r#"{"title":"Ada's links","widgets":["first",@]}"#
    );
}
