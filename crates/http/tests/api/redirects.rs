//! Creation, retrieval and deletion of redirects: contract "Redirect", D5, D21, D27, D28.

use serde_json::json;

use crate::harness::{Api, is_id};

#[actix_web::test]
async fn d28_only_name_and_target_of_a_redirect_are_required() {
    let api = Api::start().await;
    let body = json!({"name": "  Autumn sale ", "target_url": "https://example.com/é?a=b#c"});
    let answer = api.call_with("POST", "/v1/redirects", body).await;
    let id = answer.id(201);
    assert!(is_id(&id, "rdr_"));
    assert_eq!(answer.header("location"), Some(format!("/v1/redirects/{id}").as_str()));
    let slug = answer.body["slug"].as_str().unwrap();
    assert_eq!(slug.len(), 7);
    for (field, expected) in [
        ("id", json!(id)),
        ("object", json!("redirect")),
        ("name", json!("Autumn sale")),
        ("url", json!(format!("https://go.example.com/{slug}"))),
        ("target_url", json!("https://example.com/é?a=b#c")),
        ("is_active", json!(true)),
        ("note", json!(null)),
        ("antibot_enabled", json!(false)),
        ("group_id", json!(null)),
        ("domain", json!("go.example.com")),
        ("created_at", json!("2026-01-31T09:05:07.042Z")),
        ("updated_at", json!("2026-01-31T09:05:07.042Z")),
        ("pixels", json!([])),
        ("geo_blocklists", json!({"countries": []})),
    ] {
        assert_eq!(answer.body[field], expected, "{field}");
    }
    assert_eq!(api.call("GET", &format!("/v1/redirects/{id}")).await.body, answer.body);
}

/// The path has only the id, so the header never contains a name.
#[actix_web::test]
async fn d5_r10_the_location_of_a_new_link_is_its_path_for_any_name() {
    let api = Api::start().await;
    for name in
        ["Location: https://evil.example", "嘊嘍Set-Cookie:a=b", "%0d%0aX: y", "\u{202e}elpmaxe", "\"'<>&"]
    {
        let body = json!({"name": name, "target_url": "https://example.com/", "note": name});
        let answer = api.call_with("POST", "/v1/redirects", body).await;
        let location = format!("/v1/redirects/{}", answer.id(201));
        assert_eq!(
            (answer.header("location"), &answer.body["name"]),
            (Some(location.as_str()), &json!(name))
        );
    }
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
async fn d8_violations_of_http_and_use_case_of_a_creation_are_listed_together() {
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
async fn d26_at_most_249_countries_are_accepted() {
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
