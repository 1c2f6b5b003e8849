//! Landing pages and their content: contract "Landing", D8, D27, D28, D33, D34.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::Api;

const PAGE_FIELDS: [&str; 6] =
    ["description", "avatar_url", "theme", "accent_color", "search_engines", "widgets"];

fn without_page_fields(mut landing: Value) -> Value {
    for field in PAGE_FIELDS {
        landing.as_object_mut().unwrap().remove(field).expect(field);
    }
    landing
}

#[actix_web::test]
async fn d34_a_new_page_is_empty_and_follows_the_visitors_device() {
    let api = Api::start().await;
    let created = api.call_with("POST", "/v1/landings", json!({"title": "a"})).await;
    let path = format!("/v1/landings/{}", created.id(201));
    let empty = json!([null, null, "auto", null, false, []]);
    assert_eq!(json!(PAGE_FIELDS.map(|field| &created.body[field])), empty);
    assert_eq!(api.call("GET", &path).await.body, created.body);
    let nulls = json!({"title": "a", "description": null, "avatar_url": null, "accent_color": null});
    let created = api.call_with("POST", "/v1/landings", nulls).await;
    assert_eq!(json!(PAGE_FIELDS.map(|field| &created.body[field])), empty);
}

#[actix_web::test]
async fn d27_lists_show_landing_pages_without_content() {
    let api = Api::start().await;
    let id = api.landing("a").await;
    let single = api.call("GET", &format!("/v1/landings/{id}")).await.body;
    let listed = api.call("GET", "/v1/landings").await.body;
    assert_eq!(listed["data"], json!([without_page_fields(single)]));
}

#[actix_web::test]
async fn d34_page_fields_change_one_by_one_and_null_clears_nullable_ones() {
    let api = Api::start().await;
    let path = format!("/v1/landings/{}", api.landing("a").await);
    let mut expected = api.call("GET", &path).await.body;
    api.memory.clock.advance(Duration::from_secs(1));
    expected["updated_at"] = json!("2026-01-31T09:05:08.042Z");
    for (field, sent, shown) in [
        ("description", json!("ü".repeat(500)), json!("ü".repeat(500))),
        ("description", json!("one\n\ttwo "), json!("one\n\ttwo ")),
        ("description", json!(""), json!("")),
        ("avatar_url", json!("HTTPS://example.com/é"), json!("HTTPS://example.com/é")),
        ("theme", json!("light"), json!("light")),
        ("theme", json!("dark"), json!("dark")),
        ("theme", json!("auto"), json!("auto")),
        ("accent_color", json!("#1A2b3C"), json!("#1a2b3c")),
        ("search_engines", json!(true), json!(true)),
        ("search_engines", json!(false), json!(false)),
        ("description", json!(null), json!(null)),
        ("avatar_url", json!(null), json!(null)),
        ("accent_color", json!(null), json!(null)),
    ] {
        expected[field] = shown;
        let answer = api.call_with("PATCH", &path, json!({ field: sent })).await;
        assert_eq!((answer.status, &answer.body), (200, &expected), "{field}");
    }
    api.memory.clock.advance(Duration::from_secs(1));
    let same = json!({"theme": "auto", "description": null, "widgets": []});
    assert_eq!(api.call_with("PATCH", &path, same).await.body, expected);
}

#[actix_web::test]
async fn d34_every_bad_page_field_is_refused_by_creation_and_update() {
    let api = Api::start().await;
    let path = format!("/v1/landings/{}", api.landing("a").await);
    for (field, bad, code) in [
        ("description", json!("ü".repeat(501)), "too_long"),
        ("description", json!("a\u{0}"), "invalid_format"),
        ("description", json!(1), "invalid_type"),
        ("avatar_url", json!("javascript:alert(1)"), "invalid_format"),
        ("avatar_url", json!(""), "invalid_format"),
        ("avatar_url", json!({}), "invalid_type"),
        ("theme", json!("sepia"), "invalid_value"),
        ("theme", json!("Dark"), "invalid_value"),
        ("theme", json!(null), "not_nullable"),
        ("theme", json!(true), "invalid_type"),
        ("accent_color", json!("#abc"), "invalid_format"),
        ("accent_color", json!("red"), "invalid_format"),
        ("accent_color", json!(0), "invalid_type"),
        ("search_engines", json!("yes"), "invalid_type"),
        ("widgets", json!(null), "not_nullable"),
        ("widgets", json!({}), "invalid_type"),
        ("widgets", json!(vec![json!({"type": "divider"}); 101]), "too_many_items"),
    ] {
        let body = json!({"title": "a", field: bad});
        for (method, path) in [("POST", "/v1/landings"), ("PATCH", &path)] {
            let answer = api.call_with(method, path, body.clone()).await;
            assert_eq!(answer.violations(), [(field, code)], "{method} {body}");
        }
    }
}

#[actix_web::test]
async fn d8_one_answer_lists_violations_of_link_and_page() {
    let api = Api::start().await;
    let path = format!("/v1/landings/{}", api.landing("a").await);
    let body = json!({
        "title": "", "slug": 1, "theme": null, "accent_color": "red", "colour": "red",
        "widgets": [{"type": "heading"}, 5],
    });
    for (method, path) in [("POST", "/v1/landings?x=1"), ("PATCH", &format!("{path}?x=1"))] {
        let answer = api.call_with(method, path, body.clone()).await;
        assert_eq!(
            answer.violations(),
            [
                ("accent_color", "invalid_format"),
                ("colour", "unknown_field"),
                ("slug", "invalid_type"),
                ("theme", "not_nullable"),
                ("title", "too_short"),
                ("widgets[0].text", "required"),
                ("widgets[1]", "invalid_type"),
                ("x", "unknown_field"),
            ]
        );
    }
    assert_eq!(api.call_with("PATCH", "/v1/landings/lnd_1", json!({"theme": "dark"})).await.error().0, 404);
}
