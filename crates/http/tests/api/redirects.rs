//! Creating, retrieving and deleting redirects: contract "Redirect", D5, D21, D27, D28.

use serde_json::{Value, json};

use crate::harness::{Api, is_id};

/// The fields of a single redirect, in the order of the contract.
pub(crate) const FIELDS: [&str; 15] = [
    "id",
    "object",
    "name",
    "url",
    "target_url",
    "slug",
    "is_active",
    "note",
    "antibot_enabled",
    "group_id",
    "domain",
    "created_at",
    "updated_at",
    "pixels",
    "geo_blocklists",
];

fn names(body: &Value) -> Vec<&str> {
    let mut names: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn sorted<const N: usize>(mut names: [&str; N]) -> Vec<&str> {
    names.sort_unstable();
    names.to_vec()
}

#[actix_web::test]
async fn d28_a_redirect_needs_a_name_and_a_target_and_the_rest_has_defaults() {
    let api = Api::start().await;
    let body = json!({"name": "  Autumn sale ", "target_url": "https://example.com/é?a=b#c"});
    let answer = api.call_with("POST", "/v1/redirects", body).await;
    let id = answer.id(201);
    assert!(is_id(&id, "rdr_"));
    assert_eq!(answer.header("location"), Some(format!("/v1/redirects/{id}").as_str()));
    let slug = answer.body["slug"].as_str().unwrap();
    assert_eq!(slug.len(), 7);
    assert_eq!(
        answer.body,
        json!({
            "id": id, "object": "redirect", "name": "Autumn sale", "url": format!("https://go.example.com/{slug}"),
            "target_url": "https://example.com/é?a=b#c", "slug": slug, "is_active": true, "note": null,
            "antibot_enabled": false, "group_id": null, "domain": "go.example.com",
            "created_at": "2026-01-31T09:05:07.042Z", "updated_at": "2026-01-31T09:05:07.042Z",
            "pixels": [], "geo_blocklists": {"countries": []},
        })
    );
    assert_eq!(names(&answer.body), sorted(FIELDS));
    assert_eq!(api.call("GET", &format!("/v1/redirects/{id}")).await.body, answer.body);
}

#[actix_web::test]
async fn d28_a_creation_takes_every_field() {
    let api = Api::start().await;
    let group = api.group("Spring").await;
    let body = json!({
        "name": "a", "target_url": "https://example.com/", "slug": "Sale_1", "domain": "GO.example.com.", "note": "",
        "group_id": group, "is_active": false, "antibot_enabled": true, "analytics_enabled": false,
        "geo_blocklists": {"countries": ["de", "AT", "DE"]},
    });
    let answer = api.call_with("POST", "/v1/redirects", body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    for (field, expected) in [
        ("slug", json!("Sale_1")),
        ("url", json!("https://go.example.com/Sale_1")),
        ("note", json!("")),
        ("group_id", json!(group)),
        ("is_active", json!(false)),
        ("antibot_enabled", json!(true)),
        ("geo_blocklists", json!({"countries": ["DE", "AT"]})),
    ] {
        assert_eq!(answer.body[field], expected, "{field}");
    }
    assert!(answer.body.get("analytics_enabled").is_none());
    let nulls = json!({
        "name": "a", "target_url": "https://example.com/", "domain": null, "note": null, "group_id": null,
        "geo_blocklists": null,
    });
    assert_eq!(api.call_with("POST", "/v1/redirects", nulls).await.status, 201);
}

#[actix_web::test]
async fn d8_every_violation_of_a_creation_is_listed_those_that_only_the_use_case_sees_included() {
    let api = Api::start().await;
    let body = json!({
        "name": "", "target_url": "https://go.example.com/loop", "slug": "loop", "note": "n".repeat(257),
        "domain": 5, "group_id": [], "is_active": null, "antibot_enabled": "no", "analytics_enabled": 1,
        "geo_blocklists": {"countries": ["DE", "XX"], "regions": []},
        "id": "rdr_1", "object": "redirect", "url": "x", "created_at": "x", "pixels": [], "pixel_ids": "pxl_1",
    });
    let answer = api.call_with("POST", "/v1/redirects?dry_run=1", body).await;
    assert_eq!(
        answer.violations(),
        [
            ("analytics_enabled", "invalid_type"),
            ("antibot_enabled", "invalid_type"),
            ("created_at", "unknown_field"),
            ("domain", "invalid_type"),
            ("dry_run", "unknown_field"),
            ("geo_blocklists.countries[1]", "invalid_value"),
            ("geo_blocklists.regions", "unknown_field"),
            ("group_id", "invalid_type"),
            ("id", "unknown_field"),
            ("is_active", "not_nullable"),
            ("name", "too_short"),
            ("note", "too_long"),
            ("object", "unknown_field"),
            ("pixel_ids", "invalid_type"),
            ("pixels", "unknown_field"),
            ("url", "unknown_field"),
        ]
    );
    let body = json!({"name": null, "target_url": "https://go.example.com/loop", "slug": "loop"});
    let answer = api.call_with("POST", "/v1/redirects", body).await;
    assert_eq!(answer.violations(), [("name", "not_nullable"), ("target_url", "invalid_value")]);
}

#[actix_web::test]
async fn d21_an_explicit_null_slug_on_the_system_domain_is_refused() {
    let api = Api::start().await;
    let body = json!({"name": "a", "target_url": "https://example.com/", "slug": null});
    let answer = api.call_with("POST", "/v1/redirects", body).await;
    assert_eq!(answer.error(), (400, "slug_required_for_system_domain"));
}

#[actix_web::test]
async fn d6_what_a_body_names_and_nobody_has_is_a_404_and_a_taken_address_a_409() {
    let api = Api::start().await;
    api.redirect("taken").await;
    for (field, value, expected) in [
        ("group_id", "grp_00000000000000000000000000000000", (404, "group_not_found")),
        ("group_id", "spring", (404, "group_not_found")),
        ("domain", "links.example.org", (404, "domain_not_found")),
        ("domain", "not a host", (404, "domain_not_found")),
        ("slug", "taken", (409, "slug_already_taken")),
        ("slug", "Admin", (409, "slug_already_taken")),
    ] {
        let mut body = json!({"name": "a", "target_url": "https://example.com/"});
        body[field] = json!(value);
        assert_eq!(api.call_with("POST", "/v1/redirects", body).await.error(), expected, "{field} {value}");
    }
}

#[actix_web::test]
async fn d26_at_most_249_countries_are_taken() {
    let api = Api::start().await;
    let body = |count: usize| {
        json!({
            "name": "a", "target_url": "https://example.com/",
            "geo_blocklists": {"countries": vec!["DE"; count]},
        })
    };
    assert_eq!(api.call_with("POST", "/v1/redirects", body(249)).await.status, 201);
    let answer = api.call_with("POST", "/v1/redirects", body(250)).await;
    assert_eq!(answer.violations(), [("geo_blocklists.countries", "too_many_items")]);
}

#[actix_web::test]
async fn d5_a_deletion_says_what_is_gone() {
    let api = Api::start().await;
    let id = api.redirect("gone").await;
    let path = format!("/v1/redirects/{id}");
    let answer = api.call("DELETE", &path).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body["message"].is_string());
    assert_eq!(names(&answer.body), ["deleted", "id", "message", "object"]);
    assert_eq!((&answer.body["id"], &answer.body["object"]), (&json!(id), &json!("redirect")));
    assert_eq!(answer.body["deleted"], json!(true));
    for method in ["GET", "DELETE"] {
        assert_eq!(api.call(method, &path).await.error(), (404, "redirect_not_found"));
    }
    // The address is free again.
    api.redirect("gone").await;
}
