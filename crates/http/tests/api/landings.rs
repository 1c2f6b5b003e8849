//! Landing pages and their content: contract "Landing", D8, D28, D34.

use serde_json::json;

use crate::harness::Api;

const PAGE_FIELDS: [&str; 10] = [
    "description",
    "avatar_url",
    "theme",
    "accent_color",
    "search_engines",
    "language",
    "background",
    "button_style",
    "font",
    "widgets",
];

#[actix_web::test]
async fn d34_a_new_page_is_empty_and_follows_the_visitors_device() {
    let api = Api::start().await;
    let created = api.call_with("POST", "/v1/landings", json!({"title": "a"})).await;
    let empty = json!([null, null, "auto", null, false, null, "gradient", "card", "sans", []]);
    assert_eq!(json!(PAGE_FIELDS.map(|field| &created.body[field])), empty);
    let nulls = json!({"title": "a", "description": null, "avatar_url": null, "accent_color": null, "language": null});
    let created = api.call_with("POST", "/v1/landings", nulls).await;
    assert_eq!(json!(PAGE_FIELDS.map(|field| &created.body[field])), empty);
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
}

#[actix_web::test]
async fn d34_choices_and_language_are_read_by_their_names() {
    let api = Api::start().await;
    let path = format!("/v1/landings/{}", api.landing("a").await);
    let body = json!({"background": "Dots", "button_style": "round", "font": null, "language": "german"});
    assert_eq!(
        api.call_with("PATCH", &path, body).await.violations(),
        [
            ("background", "invalid_value"),
            ("button_style", "invalid_value"),
            ("font", "not_nullable"),
            ("language", "invalid_format"),
        ]
    );
    let answer = api.call_with("PATCH", &path, json!({"language": "PT-br"})).await;
    assert_eq!(answer.body["language"], "pt-BR");
    let answer = api.call_with("PATCH", &path, json!({"language": null})).await;
    assert_eq!(answer.body["language"], json!(null));
}
