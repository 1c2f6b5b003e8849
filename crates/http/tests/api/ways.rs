//! The ways of redirects: their status, forwarded queries, and the parameters of campaigns (D132).

use serde_json::{Value, json};

use crate::harness::{Api, link_body};

const REDIRECTS: &str = "/v1/redirects";

const TARGET: &str = "https://example.com/?utm_source=own&b=1#c";

/// A body of a creation with these fields added.
fn body(fields: Value) -> Value {
    let mut body = link_body(REDIRECTS, fields);
    body["target_url"] = json!(TARGET);
    body
}

/// What single answers and lists show of the way.
fn way(link: &Value) -> Value {
    json!([link["redirect_status"], link["forward_query"]])
}

/// What only single answers show.
fn campaign(link: &Value) -> Value {
    json!([link["utm"], link["final_url"]])
}

#[actix_web::test]
async fn d132_every_call_that_writes_redirects_takes_their_way() {
    let api = Api::start().await;
    let utm = json!({"source": " mail ", "campaign": "Autumn & more", "term": null});
    let fields = json!({"redirect_status": 308, "forward_query": true, "utm": utm});
    let shown = json!([308, true]);
    let final_url = "https://example.com/?b=1&utm_source=mail&utm_campaign=Autumn%20%26%20more#c";
    let parts =
        json!({"source": "mail", "medium": null, "campaign": "Autumn & more", "term": null, "content": null});
    let tagged = json!([parts, final_url]);
    let (plain, untagged) = (json!([302, false]), json!([null, TARGET]));

    let created = api.call_with("POST", REDIRECTS, body(fields.clone())).await;
    let path = format!("{REDIRECTS}/{}", created.id(201));
    assert_eq!((way(&created.body), campaign(&created.body)), (shown.clone(), tagged.clone()));
    assert_eq!(created.body["target_url"], json!(TARGET), "it stays as given");
    assert_eq!(api.call("GET", &path).await.body, created.body);
    let listed = api.call("GET", REDIRECTS).await.body["data"][0].take();
    assert_eq!(way(&listed), shown);
    assert!(listed.get("utm").is_none() && listed.get("final_url").is_none(), "D125: {listed}");

    let patch = async |fields: Value| {
        let patched = api.call_with("PATCH", &path, fields).await;
        assert_eq!(patched.status, 200, "{patched:?}");
        (way(&patched.body), campaign(&patched.body), patched.body["revision"].clone())
    };
    assert_eq!(
        patch(json!({"note": "x"})).await,
        (shown.clone(), tagged.clone(), json!(2)),
        "absent fields stay"
    );
    // `utm` replaces all its parts.
    let (_, only_term, _) = patch(json!({"utm": {"term": "x"}})).await;
    let final_url = "https://example.com/?utm_source=own&b=1&utm_term=x#c";
    let parts = json!({"source": null, "medium": null, "campaign": null, "term": "x", "content": null});
    assert_eq!(only_term, json!([parts, final_url]));
    let none = json!({"redirect_status": 302, "forward_query": false, "utm": null});
    assert_eq!(patch(none.clone()).await, (plain.clone(), untagged.clone(), json!(4)));
    for same in [none, json!({"utm": {}}), json!({"utm": {"source": null, "content": null}})] {
        assert_eq!(patch(same).await, (plain.clone(), untagged.clone(), json!(4)), "D33");
    }
    assert_eq!(patch(fields.clone()).await.0, shown);

    let put = async |fields: &Value| {
        api.call_with("PUT", "/v1/redirects/by-external-id/1", body(fields.clone())).await
    };
    let made = put(&fields).await;
    assert_eq!((made.status, way(&made.body), campaign(&made.body)), (201, shown.clone(), tagged.clone()));
    let kept = put(&json!({})).await;
    assert_eq!((kept.status, way(&kept.body), campaign(&kept.body)), (200, shown.clone(), tagged.clone()));

    let batch = json!({"redirects": [body(fields.clone()), body(json!({}))]});
    let created = api.call_with("POST", "/v1/redirects/bulk", batch).await.body;
    let data = |index: usize| created["created"][index]["data"].clone();
    assert_eq!((way(&data(0)), way(&data(1))), (shown.clone(), plain));
    let mut item = fields.clone();
    item["id"] = data(1)["id"].clone();
    let updated = api.call_with("PATCH", "/v1/redirects/bulk", json!({"redirects": [item]})).await.body;
    assert_eq!(way(&updated["updated"][0]["data"]), shown);
    let single = api.call("GET", &format!("{REDIRECTS}/{}", data(1)["id"].as_str().unwrap())).await.body;
    assert_eq!(campaign(&single), tagged);
}

#[actix_web::test]
async fn d132_malformed_fields_are_named() {
    let api = Api::start().await;
    let long = "x".repeat(256);
    for (fields, field, code) in [
        (json!({"redirect_status": 303}), "redirect_status", "invalid_value"),
        (json!({"redirect_status": "301"}), "redirect_status", "invalid_type"),
        (json!({"redirect_status": 301.5}), "redirect_status", "invalid_type"),
        (json!({"redirect_status": null}), "redirect_status", "not_nullable"),
        (json!({"forward_query": "true"}), "forward_query", "invalid_type"),
        (json!({"forward_query": null}), "forward_query", "not_nullable"),
        (json!({"utm": "source=x"}), "utm", "invalid_type"),
        (json!({"utm": {"utm_source": "x"}}), "utm.utm_source", "unknown_field"),
        (json!({"utm": {"source": ""}}), "utm.source", "too_short"),
        (json!({"utm": {"medium": long}}), "utm.medium", "too_long"),
        (json!({"utm": {"campaign": "a\nb"}}), "utm.campaign", "invalid_format"),
        (json!({"utm": {"term": 7}}), "utm.term", "invalid_type"),
        (json!({"final_url": TARGET}), "final_url", "unknown_field"),
    ] {
        let answer = api.call_with("POST", REDIRECTS, body(fields.clone())).await;
        assert_eq!(answer.violations(), [(field, code)], "{fields}");
    }
    let landing = json!({"title": "First", "redirect_status": 302});
    let answer = api.call_with("POST", "/v1/landings", landing).await;
    assert_eq!(answer.violations(), [("redirect_status", "unknown_field")]);
}

/// Whichever is set first. The rules are tested in the domain; here, every call applies them.
#[actix_web::test]
async fn d132_a_permanent_status_is_refused_beside_a_gate_by_every_call() {
    let api = Api::start().await;
    let pixel = api.pixel().await;
    let refused = [("redirect_status", "invalid_value")];
    for (field, gate, none) in [
        ("starts_at", json!("2026-01-31T10:00:00Z"), Value::Null),
        ("expires_at", json!("2036-01-31T10:00:00Z"), Value::Null),
        ("max_clicks", json!(9), Value::Null),
        ("password", json!("plover egg tin"), Value::Null),
        ("rules", json!([{"conditions": [], "target_url": TARGET}]), Value::Null),
        ("antibot_enabled", json!(true), json!(false)),
        ("geo_blocklists", json!({"countries": ["DE"]}), Value::Null),
        ("pixel_ids", json!([pixel]), json!([])),
    ] {
        let both = json!({"redirect_status": 301, field: gate});
        let created = api.call_with("POST", REDIRECTS, body(both.clone())).await;
        assert_eq!(created.violations(), refused, "{field}");
        let batch = json!({"redirects": [body(both.clone())]});
        let failed = api.call_with("POST", "/v1/redirects/bulk", batch).await.body["failed"][0].take();
        assert_eq!(failed["error"]["details"][0]["field"], json!("redirect_status"), "{field}");

        let gated = api.call_with("POST", REDIRECTS, body(json!({ field: gate }))).await.id(201);
        let permanent = api.call_with("POST", REDIRECTS, body(json!({"redirect_status": 308}))).await.id(201);
        for (id, change) in [(&gated, json!({"redirect_status": 308})), (&permanent, json!({ field: gate }))]
        {
            let path = format!("{REDIRECTS}/{id}");
            let before = api.call("GET", &path).await.body;
            assert_eq!(api.call_with("PATCH", &path, change).await.violations(), refused, "{field}");
            assert_eq!(api.call("GET", &path).await.body, before, "{field}");
        }
        let swapped = json!({"redirect_status": 301, field: none});
        let swapped = api.call_with("PATCH", &format!("{REDIRECTS}/{gated}"), swapped).await;
        assert_eq!((swapped.status, &swapped.body["redirect_status"]), (200, &json!(301)), "{field}");
    }
}

#[actix_web::test]
async fn d124_d132_many_redirects_get_the_same_way() {
    let api = Api::start().await;
    let gated = api.call_with("POST", REDIRECTS, body(json!({"antibot_enabled": true}))).await.id(201);
    let plain = api.call_with("POST", REDIRECTS, body(json!({}))).await.id(201);
    let change = async |patch: Value| {
        let body = json!({"filter": {"all": true}, "patch": patch});
        api.call_with("POST", "/v1/redirects/update-matching", body).await
    };
    let impossible = json!({"redirect_status": 301, "expires_at": "2036-01-31T10:00:00Z"});
    assert_eq!(change(impossible).await.violations(), [("patch.redirect_status", "invalid_value")]);
    let malformed = json!({"redirect_status": 200, "utm": {"source": ""}});
    let expected = [("patch.redirect_status", "invalid_value"), ("patch.utm.source", "too_short")];
    assert_eq!(change(malformed).await.violations(), expected);
    let changed = change(json!({"redirect_status": 301, "utm": {"source": "mail"}})).await.body;
    assert_eq!((&changed["updated_count"], &changed["failed"][0]["id"]), (&json!(1), &json!(gated)));
    assert_eq!(changed["failed"][0]["error"]["details"][0]["field"], json!("redirect_status"));
    let after = api.call("GET", &format!("{REDIRECTS}/{plain}")).await.body;
    assert_eq!((way(&after), &after["utm"]["source"]), (json!([301, false]), &json!("mail")));
}

/// Each of the longest values alone fits, but not all of them together.
#[actix_web::test]
async fn d132_target_and_parameters_together_have_at_most_4096_bytes() {
    let api = Api::start().await;
    let long = "\u{fc}".repeat(255);
    let utm = json!({"source": long, "medium": long, "campaign": long, "term": long, "content": long});
    let answer = api.call_with("POST", REDIRECTS, body(json!({ "utm": utm }))).await;
    assert_eq!(answer.violations(), [("utm", "too_long")]);
    let single = body(json!({"utm": {"source": "\u{1f980}".repeat(255)}}));
    assert_eq!(api.call_with("POST", REDIRECTS, single).await.status, 201);
}
