//! The cards that link previewers show of redirects (D125, D135, D137).

use serde_json::{Value, json};
use signpost_domain::{FeatureSet, Plan, PlanName};

use crate::harness::{Answer, Api, commit, link_body, memory_on_plan};

const REDIRECTS: &str = "/v1/redirects";

/// A card with every part.
fn card() -> Value {
    json!({
        "title": "Autumn sale",
        "description": "Until Sunday.\nHalf of everything.",
        "image_url": "https://example.com/a.jpg?w=1&h=2",
    })
}

/// A card with nothing but a title, as it is shown.
fn short_card() -> Value {
    json!({"title": "Plain", "description": null, "image_url": null})
}

/// A body of a creation with this card.
fn body(preview: &Value) -> Value {
    link_body(REDIRECTS, json!({ "preview": preview }))
}

async fn create(api: &Api, preview: &Value) -> Answer {
    api.call_with("POST", REDIRECTS, body(preview)).await
}

#[actix_web::test]
async fn d135_every_call_that_writes_redirects_takes_a_card() {
    let api = Api::start().await;
    let created = create(&api, &card()).await;
    let path = format!("{REDIRECTS}/{}", created.id(201));
    assert_eq!(created.body["preview"], card());
    assert_eq!(api.call("GET", &path).await.body, created.body);
    let listed = api.call("GET", REDIRECTS).await.body["data"][0].take();
    assert!(listed.get("preview").is_none(), "D125: {listed}");

    let patch = async |fields: Value| {
        let patched = api.call_with("PATCH", &path, fields).await;
        assert_eq!(patched.status, 200, "{patched:?}");
        (patched.body["preview"].clone(), patched.body["revision"].clone())
    };
    assert_eq!(patch(json!({"note": "x"})).await, (card(), json!(2)), "an absent field stays");
    assert_eq!(patch(json!({"preview": card()})).await, (card(), json!(2)), "D33");
    // The object replaces the whole card.
    assert_eq!(patch(json!({"preview": {"title": " Plain "}})).await, (short_card(), json!(3)));
    let nulls = json!({"title": "Plain", "description": null, "image_url": null});
    assert_eq!(patch(json!({ "preview": nulls })).await, (short_card(), json!(3)), "D33");
    assert_eq!(patch(json!({"preview": null})).await, (json!(null), json!(4)));
    assert_eq!(patch(json!({"preview": null})).await, (json!(null), json!(4)), "D33");

    let put = async |body: Value| api.call_with("PUT", "/v1/redirects/by-external-id/1", body).await;
    let made = put(body(&card())).await;
    assert_eq!((made.status, &made.body["preview"]), (201, &card()));
    let kept = put(link_body(REDIRECTS, json!({}))).await;
    assert_eq!((kept.status, &kept.body["preview"]), (200, &card()));
    assert_eq!(put(body(&json!(null))).await.body["preview"], json!(null));

    let batch = json!({"redirects": [body(&card()), body(&json!(null))]});
    let created = api.call_with("POST", "/v1/redirects/bulk", batch).await.body;
    let id = |index: usize| created["created"][index]["data"]["id"].as_str().unwrap();
    let shown = async |id: &str| api.call("GET", &format!("{REDIRECTS}/{id}")).await.body["preview"].take();
    assert_eq!((shown(id(0)).await, shown(id(1)).await), (card(), json!(null)));
    let items = json!([{"id": id(0), "preview": null}, {"id": id(1), "preview": card()}]);
    let updated = api.call_with("PATCH", "/v1/redirects/bulk", json!({ "redirects": items })).await.body;
    assert_eq!(updated["updated_count"], json!(2), "{updated}");
    assert_eq!((shown(id(0)).await, shown(id(1)).await), (json!(null), card()));
}

#[actix_web::test]
async fn d135_malformed_cards_are_named_part_by_part() {
    let api = Api::start().await;
    let path = format!("{REDIRECTS}/{}", api.redirect("mine").await);
    let with = |name: &str, value: Value| {
        let mut card = card();
        card[name] = value;
        card
    };
    for (preview, violation) in [
        (json!("Autumn sale"), ("preview", "invalid_type")),
        (json!([]), ("preview", "invalid_type")),
        (json!({}), ("preview.title", "required")),
        (json!({"description": "Until Sunday."}), ("preview.title", "required")),
        (with("title", json!(null)), ("preview.title", "not_nullable")),
        (with("title", json!(7)), ("preview.title", "invalid_type")),
        (with("title", json!(" ")), ("preview.title", "too_short")),
        (with("title", json!("ä".repeat(201))), ("preview.title", "too_long")),
        (with("title", json!("a\nb")), ("preview.title", "invalid_format")),
        (with("description", json!(["a"])), ("preview.description", "invalid_type")),
        (with("description", json!("ä".repeat(501))), ("preview.description", "too_long")),
        (with("description", json!("a\u{0}b")), ("preview.description", "invalid_format")),
        (with("image_url", json!(true)), ("preview.image_url", "invalid_type")),
        (with("image_url", json!("data:image/png;base64,AA")), ("preview.image_url", "invalid_format")),
        (with("image_url", json!("/a.jpg")), ("preview.image_url", "invalid_format")),
        (with("image", json!("https://example.com/a.jpg")), ("preview.image", "unknown_field")),
    ] {
        assert_eq!(create(&api, &preview).await.violations(), [violation], "{preview}");
        let patched = api.call_with("PATCH", &path, json!({ "preview": preview })).await;
        assert_eq!(patched.violations(), [violation], "{preview}");
    }
    let longest = json!({"title": "ä".repeat(200), "description": "ä".repeat(500), "image_url": null});
    assert_eq!(create(&api, &longest).await.body["preview"], longest);
    let all = json!({"title": "", "description": 1, "image_url": "x"});
    let expected = [
        ("preview.description", "invalid_type"),
        ("preview.image_url", "invalid_format"),
        ("preview.title", "too_short"),
    ];
    assert_eq!(create(&api, &all).await.violations(), expected, "D8");
    let batch = json!({"redirects": [body(&json!({}))]});
    let failed = api.call_with("POST", "/v1/redirects/bulk", batch).await.body["failed"][0].take();
    assert_eq!(failed["error"]["details"][0]["field"], json!("preview.title"), "{failed}");
}

#[actix_web::test]
async fn d135_only_calls_about_single_redirects_take_a_card() {
    let api = Api::start().await;
    let landing = api.call_with("POST", "/v1/landings", json!({"title": "A", "preview": card()})).await;
    assert_eq!(landing.violations(), [("preview", "unknown_field")]);
    let change = json!({"filter": {"all": true}, "patch": {"preview": card()}});
    let change = api.call_with("POST", "/v1/redirects/update-matching", change).await;
    assert_eq!(change.violations(), [("patch.preview", "unknown_field")], "D124");
}

/// Browsers that keep an answer have one of their own, and previewers keep their card anyway.
#[actix_web::test]
async fn d132_d135_a_card_goes_with_every_status() {
    let api = Api::start().await;
    for status in [301, 302, 307, 308] {
        let mut body = body(&card());
        body["redirect_status"] = json!(status);
        let created = api.call_with("POST", REDIRECTS, body).await;
        assert_eq!((created.status, &created.body["preview"]), (201, &card()), "{status}");
    }
}

/// D137: after a downgrade a redirect keeps its card and may lose it, but gets no other.
#[actix_web::test]
async fn d137_a_new_card_needs_the_feature_link_previews() {
    let bare = PlanName::parse("bare").unwrap();
    let plan = |plan: Plan| Plan { name: bare.clone(), features: FeatureSet::none(), ..plan };
    let api = Api::on(memory_on_plan(plan), |_| {}).await;
    let created = create(&api, &card()).await;
    let path = format!("{REDIRECTS}/{}", created.id(201));
    let mut work = api.app.store.begin().await.unwrap();
    assert!(work.set_plan(api.account, &bare).await.unwrap());
    commit(work).await;

    let missing = (403, "feature_not_available_on_current_plan");
    assert_eq!(create(&api, &card()).await.error(), missing);
    create(&api, &json!(null)).await.id(201);
    let patch = async |fields: Value| api.call_with("PATCH", &path, fields).await;
    for kept in [json!({"note": "x"}), json!({"preview": card()})] {
        assert_eq!(patch(kept).await.body["preview"], card());
    }
    assert_eq!(patch(json!({"preview": {"title": "Autumn sale"}})).await.error(), missing);
    assert_eq!(patch(json!({"preview": null})).await.body["preview"], json!(null));
    assert_eq!(patch(json!({"preview": card()})).await.error(), missing);
}
