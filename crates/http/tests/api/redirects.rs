//! Creation and update of redirects: contract "Redirect", D5, D21, D27, D28.

use serde_json::json;

use crate::harness::{Api, is_id};

#[actix_web::test]
async fn d28_only_name_and_target_of_a_redirect_are_required() {
    let api = Api::start().await;
    let body = json!({"name": "  Autumn sale ", "target_url": "https://example.com/é?a=b#c"});
    let answer = api.call_with("POST", "/v1/redirects", body).await;
    let (id, slug) = (answer.id(201), answer.body["slug"].as_str().unwrap());
    assert!(is_id(&id, "rdr_"));
    assert_eq!(slug.len(), 7);
    let expected = json!({
        "id": id, "object": "redirect", "name": "Autumn sale", "url": format!("https://go.example.com/{slug}"),
        "target_url": "https://example.com/é?a=b#c", "slug": slug, "is_active": true, "note": null,
        "antibot_enabled": false, "max_clicks": null, "clicks_left": null, "group_id": null, "domain": "go.example.com",
        "state": "active", "starts_at": null, "expires_at": null, "fallback_url": null, "has_password": false,
        "redirect_status": 302, "forward_query": false, "has_rules": false, "utm": null, "rules": [], "preview": null,
        "final_url": "https://example.com/é?a=b#c",
        "created_at": "2026-01-31T09:05:07.042Z", "updated_at": "2026-01-31T09:05:07.042Z",
        "revision": 1, "external_id": null, "tags": [], "pixels": [], "geo_blocklists": {"countries": []},
    });
    assert_eq!(answer.body, expected);
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
async fn d8_violations_of_http_and_use_case_are_listed_together() {
    let api = Api::start().await;
    let body = json!({
        "name": null, "target_url": "https://go.example.com/loop", "slug": "loop", "note": "n".repeat(257),
        "geo_blocklists": {"countries": ["DE", "XX"], "regions": []}, "pixel_ids": [null], "id": "rdr_1", "url": null,
    });
    let redirect = api.redirect("own").await;
    for (method, path) in [("POST", "/v1/redirects"), ("PATCH", &format!("/v1/redirects/{redirect}"))] {
        let answer = api.call_with(method, &format!("{path}?dry_run=1"), body.clone()).await;
        assert_eq!(
            answer.violations(),
            [
                ("dry_run", "unknown_field"),
                ("geo_blocklists.countries[1]", "invalid_value"),
                ("geo_blocklists.regions", "unknown_field"),
                ("id", "unknown_field"),
                ("name", "not_nullable"),
                ("note", "too_long"),
                ("pixel_ids[0]", "invalid_type"),
                ("target_url", "invalid_value"),
                ("url", "unknown_field"),
            ],
            "{method}"
        );
    }
    assert_eq!(api.call("GET", &format!("/v1/redirects/{redirect}")).await.body["name"], json!("own"));
}

/// `analytics_enabled` is a field of creations only.
#[actix_web::test]
async fn d28_an_update_does_not_take_analytics_enabled() {
    let api = Api::start().await;
    let path = format!("/v1/redirects/{}", api.redirect("a").await);
    let answer = api.call_with("PATCH", &path, json!({"analytics_enabled": true})).await;
    assert_eq!(answer.violations(), [("analytics_enabled", "unknown_field")]);
}

#[actix_web::test]
async fn violations_come_before_a_missing_redirect() {
    let api = Api::start().await;
    let patch = async |name| api.call_with("PATCH", "/v1/redirects/rdr_1", json!({ "name": name })).await;
    assert_eq!(patch("").await.violations(), [("name", "too_short")]);
    assert_eq!(patch("a").await.error(), (404, "redirect_not_found"));
}
