//! `PATCH /v1/redirects/{id}`: changes only the fields in the body, and null clears them as in the contract's table.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Answer, Api};

async fn patch(api: &Api, id: &str, body: Value) -> Answer {
    api.call_with("PATCH", &format!("/v1/redirects/{id}"), body).await
}

#[actix_web::test]
async fn a_patch_changes_only_its_fields_and_returns_the_whole_redirect() {
    let api = Api::start().await;
    let id = api.redirect("before").await;
    let group = api.group("Spring").await;
    let mut expected = api.call("GET", &format!("/v1/redirects/{id}")).await.body;
    api.memory.clock.advance(Duration::from_secs(1));
    expected["updated_at"] = json!("2026-01-31T09:05:08.042Z");
    for (field, sent, shown) in [
        ("name", json!(" b "), json!("b")),
        ("target_url", json!("https://example.com/b"), json!("https://example.com/b")),
        ("note", json!("n"), json!("n")),
        ("group_id", json!(group), json!(group)),
        ("is_active", json!(false), json!(false)),
        ("antibot_enabled", json!(true), json!(true)),
        ("geo_blocklists", json!({"countries": ["fr"]}), json!({"countries": ["FR"]})),
        ("domain", json!("go.example.com"), json!("go.example.com")),
        // Null clears, ungroups, lifts blocks, or moves back to the system domain.
        ("note", json!(null), json!(null)),
        ("group_id", json!(null), json!(null)),
        ("geo_blocklists", json!(null), json!({"countries": []})),
        ("domain", json!(null), json!("go.example.com")),
    ] {
        expected[field] = shown;
        let answer = patch(&api, &id, json!({ field: sent })).await;
        assert_eq!((answer.status, &answer.body), (200, &expected), "{field}");
    }
    let answer = patch(&api, &id, json!({"slug": "after"})).await;
    assert_eq!(answer.body["url"], json!("https://go.example.com/after"));
}

#[actix_web::test]
async fn d33_a_patch_without_changes_leaves_updated_at() {
    let api = Api::start().await;
    let id = api.redirect("same").await;
    let before = api.call("GET", &format!("/v1/redirects/{id}")).await.body;
    api.memory.clock.advance(Duration::from_secs(1));
    for body in [json!({}), json!({"name": "same", "note": null, "slug": "same", "domain": null})] {
        assert_eq!(patch(&api, &id, body).await.body, before);
    }
}

#[actix_web::test]
async fn d8_violations_of_http_and_use_case_of_an_update_are_listed_together() {
    let api = Api::start().await;
    let id = api.redirect("loop").await;
    let body = json!({
        "name": null, "target_url": "https://go.example.com/loop", "note": 1, "is_active": null,
        "antibot_enabled": [], "geo_blocklists": [], "analytics_enabled": true, "url": null, "pixel_ids": [null],
    });
    assert_eq!(
        patch(&api, &id, body).await.violations(),
        [
            ("analytics_enabled", "unknown_field"),
            ("antibot_enabled", "invalid_type"),
            ("geo_blocklists", "invalid_type"),
            ("is_active", "not_nullable"),
            ("name", "not_nullable"),
            ("note", "invalid_type"),
            ("pixel_ids[0]", "invalid_type"),
            ("target_url", "invalid_value"),
            ("url", "unknown_field"),
        ]
    );
    assert_eq!(api.call("GET", &format!("/v1/redirects/{id}")).await.body["name"], json!("loop"));
}

#[actix_web::test]
async fn violations_come_before_a_missing_redirect() {
    let api = Api::start().await;
    assert_eq!(patch(&api, "rdr_1", json!({"name": ""})).await.violations(), [("name", "too_short")]);
    assert_eq!(patch(&api, "rdr_1", json!({"name": "a"})).await.error(), (404, "redirect_not_found"));
}
