//! Widgets: D8, D34, D35.

use serde_json::{Value, json};
use signpost_domain::{LinkId, PageContent, WidgetContent};

use crate::harness::{Api, commit, is_id};

async fn patch(api: &Api, path: &str, widgets: Value) -> crate::harness::Answer {
    api.call_with("PATCH", path, json!({ "widgets": widgets })).await
}

/// A widget of every type with every field.
fn full() -> [Value; 9] {
    let url = "https://example.com/é";
    [
        json!({"type": "link", "title": "Notes", "url": url, "thumbnail_url": url}),
        json!({"type": "heading", "text": "Read"}),
        json!({"type": "text", "text": " two\nlines "}),
        json!({"type": "image", "image_url": url, "alt": "", "url": url}),
        json!({"type": "social", "network": "mastodon", "url": url}),
        json!({"type": "video", "url": "https://youtu.be/dQw4w9WgXcQ", "title": "Film", "thumbnail_url": url}),
        json!({"type": "email", "address": "ada@example.com", "title": "Write"}),
        json!({"type": "contact", "method": "sms", "number": "+442079460958", "title": "Text"}),
        json!({"type": "divider"}),
    ]
}

#[actix_web::test]
async fn d35_widgets_of_every_type_can_be_sent_back_unchanged() {
    let api = Api::start().await;
    assert_eq!(full().map(|widget| widget["type"].clone()), WidgetContent::TYPES.map(Value::from));
    let created = api.call_with("POST", "/v1/landings", json!({"title": "a", "widgets": full()})).await;
    let path = format!("/v1/landings/{}", created.id(201));
    let shown = created.body["widgets"].as_array().unwrap();
    for (shown, sent) in shown.iter().zip(full()) {
        let mut expected = sent;
        expected["id"] = shown["id"].clone();
        expected["object"] = json!("widget");
        assert_eq!(*shown, expected);
        assert!(is_id(shown["id"].as_str().unwrap(), "wgt_"));
    }
    assert_eq!(api.call("GET", &path).await.body, created.body);
    assert_eq!(patch(&api, &path, json!(shown)).await.body, created.body);
}

#[actix_web::test]
async fn d34_a_widget_names_a_known_type_and_its_own_object() {
    let api = Api::start().await;
    let path = format!("/v1/landings/{}", api.landing("a").await);
    for (name, bad, code) in [
        ("text", "x", "unknown_field"),
        ("object", "landing", "invalid_value"),
        ("type", "poll", "invalid_value"),
        ("type", "Divider", "invalid_value"),
    ] {
        let mut widget = json!({"type": "divider"});
        widget[name] = json!(bad);
        let answer = patch(&api, &path, json!([{"type": "divider"}, widget])).await;
        assert_eq!(answer.violations(), [(format!("widgets[1].{name}").as_str(), code)]);
    }
}

#[actix_web::test]
async fn d8_every_violation_of_every_widget_is_listed() {
    let api = Api::start().await;
    let path = format!("/v1/landings/{}", api.landing("a").await);
    let widgets = json!([
        null,
        {"type": "link", "url": "x", "foo": 1},
        [],
        {"title": "of no known type", "foo": 1},
        {"type": "poll", "url": "x", "votes": 3},
        "divider",
        {"type": "contact", "method": "fax", "number": "020 7946 0958", "title": ""},
        {"type": "video", "url": "https://vimeo.com/1", "title": "", "thumbnail_url": "x"},
    ]);
    assert_eq!(
        patch(&api, &path, widgets).await.violations(),
        [
            ("widgets[0]", "invalid_type"),
            ("widgets[1].foo", "unknown_field"),
            ("widgets[1].title", "required"),
            ("widgets[1].url", "invalid_format"),
            ("widgets[2]", "invalid_type"),
            ("widgets[3].foo", "unknown_field"),
            ("widgets[3].type", "required"),
            ("widgets[4].type", "invalid_value"),
            ("widgets[4].votes", "unknown_field"),
            ("widgets[5]", "invalid_type"),
            ("widgets[6].method", "invalid_value"),
            ("widgets[6].number", "invalid_format"),
            ("widgets[6].title", "too_short"),
            ("widgets[7].thumbnail_url", "invalid_format"),
            ("widgets[7].title", "too_short"),
        ]
    );
    assert_eq!(api.call("GET", &path).await.body["widgets"], json!([]));
    let hundred = vec![json!({"type": "divider"}); 100];
    assert_eq!(patch(&api, &path, json!(hundred)).await.body["widgets"].as_array().unwrap().len(), 100);
}

/// Contract D35: a widget of a newer version is passed through unchanged, with a new type or with more fields. The harness
/// checks that the document describes the answer.
#[actix_web::test]
async fn d35_the_document_describes_widgets_of_newer_versions() {
    let api = Api::start().await;
    let id = api.landing("a").await;
    let widgets = json!([
        {"id": "wgt_019b5a3c6e2d7f4880112233445566aa", "type": "poll", "votes": [1, 2]},
        {"id": "wgt_019b5a3c6e2d7f4880112233445566ab", "type": "heading", "text": "Read", "size": 3},
        {"id": "wgt_019b5a3c6e2d7f4880112233445566ac", "type": "divider", "style": null},
    ]);
    let content = PageContent::from_json(&json!({ "widgets": widgets }).to_string()).unwrap();
    let landing = id.parse().unwrap();
    let mut work = api.app.store.begin().await.unwrap();
    work.lock_link(api.account, LinkId::Landing(landing)).await.unwrap();
    work.write_page_content(api.account, landing, &content).await.unwrap();
    commit(work).await;
    let shown = api.call("GET", &format!("/v1/landings/{id}")).await.body["widgets"].take();
    for (shown, stored) in shown.as_array().unwrap().iter().zip(widgets.as_array().unwrap()) {
        let mut expected = stored.clone();
        expected["object"] = json!("widget");
        assert_eq!(*shown, expected);
    }
}
