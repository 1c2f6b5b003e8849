//! What is on a landing page: D8, D27, D28, D34, D35.

use serde_json::{Value, json};

use crate::harness::{Account, Program};

fn create(account: &Account, body: &Value) -> (String, Value) {
    let landing = account.post("/v1/landings", body).expect_status(201).body;
    (format!("/v1/landings/{}", landing["id"].as_str().unwrap()), landing)
}

#[test]
fn d34_page_fields_are_kept_changed_and_cleared() {
    let program = Program::start();
    let account = program.first_account();
    let body = json!({
        "title": "x", "description": "a\nb", "avatar_url": "https://example.com/a.png", "theme": "dark",
        "accent_color": "#1A2B3C", "widgets": [{"type": "divider"}]
    });
    let (path, landing) = create(&account, &body);
    assert_eq!(landing["accent_color"], "#1a2b3c");
    for field in ["description", "avatar_url", "theme"] {
        assert_eq!(landing[field], body[field], "{field}");
    }
    assert_eq!(account.get(&path).expect_status(200).body, landing);
    let cleared = json!({"description": null, "avatar_url": null, "accent_color": null, "widgets": []});
    let answer = account.patch(&path, &cleared).expect_status(200).body;
    for field in ["description", "avatar_url", "accent_color", "widgets"] {
        assert_eq!(answer[field], cleared[field], "{field}");
    }
    assert_eq!(answer["theme"], "dark");
    assert!(account.walk("/v1/landings", "")[0].get("theme").is_none());
}

#[test]
fn d34_d35_what_was_read_can_be_sent_back_and_widgets_keep_their_ids() {
    let program = Program::start();
    let account = program.first_account();
    let url = "https://example.com/";
    let widgets = json!([
        {"type": "link", "title": "x", "url": url, "thumbnail_url": url},
        {"type": "heading", "text": "x"},
        {"type": "text", "text": "x\ny"},
        {"type": "image", "image_url": url, "alt": "", "url": null},
        {"type": "social", "network": "mastodon", "url": url},
        {"type": "video", "url": "https://vimeo.com/1"},
        {"type": "email", "address": "ada@example.com"},
        {"type": "divider"},
    ]);
    let (path, landing) = create(&account, &json!({"title": "x", "widgets": widgets}));
    let shown = landing["widgets"].as_array().unwrap();
    assert_eq!(shown.len(), 8);
    assert_eq!(account.patch(&path, &json!({"widgets": shown})).expect_status(200).body, landing);
    let turned: Vec<_> = shown.iter().rev().cloned().collect();
    let answer = account.patch(&path, &json!({"widgets": turned})).expect_status(200).body;
    assert_eq!(answer["widgets"], json!(turned));
    assert_eq!(account.get(&path).body, answer);
}

#[test]
fn d8_d35_violations_of_the_page_have_exact_paths() {
    let program = Program::start();
    let account = program.first_account();
    let (path, landing) = create(&account, &json!({"title": "x"}));
    let bad = json!({
        "title": "x", "theme": null, "accent_color": "red", "avatar_url": "javascript:1", "description": 1,
        "widgets": [{"type": "link", "url": "x", "foo": 1}, 5, {"type": "poll"}, {"type": "video", "url": "https://example.com"}]
    });
    let expected = [
        ("theme", "not_nullable"),
        ("accent_color", "invalid_format"),
        ("avatar_url", "invalid_format"),
        ("description", "invalid_type"),
        ("widgets[0].title", "required"),
        ("widgets[0].url", "invalid_format"),
        ("widgets[0].foo", "unknown_field"),
        ("widgets[1]", "invalid_type"),
        ("widgets[2].type", "invalid_value"),
        ("widgets[3].url", "invalid_value"),
    ];
    account.patch(&path, &bad).expect_violations(&expected);
    account.post("/v1/landings", &bad).expect_violations(&expected);
    assert_eq!(account.get(&path).body, landing);
}
