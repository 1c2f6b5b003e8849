//! What creations and updates of links send is kept and shown (D28, D33). The values are the examples of the document, which
//! have every field, so a new field needs no line here.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_api_conformance::Sample;

use super::{DOCUMENT, resolved};
use crate::harness::{Answer, Api};

/// A hostname in examples of the document.
const EXAMPLE_HOSTNAME: &str = "links.example.org";

/// The fields that requests take and answers never show.
const HIDDEN: [&str; 2] = ["analytics_enabled", "password"];

/// The creation with every field.
fn creation(path: &str) -> Sample {
    let request = &DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"];
    let mut sample = DOCUMENT.sample("POST", path);
    sample.body = Some(request["examples"]["with_every_field"]["value"].clone());
    sample
}

/// The properties of the body of an operation.
fn properties(path: &str, method: &str) -> &'static serde_json::Map<String, Value> {
    let request = &DOCUMENT["paths"][path][method]["requestBody"]["content"]["application/json"];
    resolved(&request["schema"])["properties"].as_object().unwrap()
}

/// What an answer shows of a field. Pixels are sent by their ids and shown in full; of a password only its being there is shown.
fn shown(body: &Value, field: &str) -> Value {
    match field {
        "pixel_ids" => body["pixels"].as_array().unwrap().iter().map(|pixel| pixel["id"].clone()).collect(),
        _ => body[shown_as(field)].clone(),
    }
}

/// The field of answers that shows a field of requests.
fn shown_as(field: &str) -> &str {
    match field {
        "pixel_ids" => "pixels",
        "password" => "has_password",
        _ => field,
    }
}

/// What answers show after this value of a field was sent.
fn shown_of(field: &str, sent: &Value) -> Value {
    if field == "password" { json!(sent.is_string()) } else { sent.clone() }
}

/// Whether a shown value has all that was sent. Widgets also have ids, and colours are shown in lower case.
fn has(shown: &Value, sent: &Value) -> bool {
    match (shown, sent) {
        (Value::Object(shown), Value::Object(sent)) => {
            sent.iter().all(|(name, sent)| shown.get(name).is_some_and(|shown| has(shown, sent)))
        }
        (Value::Array(shown), Value::Array(sent)) => {
            shown.len() == sent.len() && shown.iter().zip(sent).all(|(shown, sent)| has(shown, sent))
        }
        (Value::String(shown), Value::String(sent)) if sent.starts_with('#') => *shown == sent.to_lowercase(),
        _ => shown == sent,
    }
}

/// An answer without the fields that follow from others.
fn without_derived(answer: &Answer) -> Value {
    let mut body = answer.body.clone();
    for derived in [
        "id",
        "url",
        "final_url",
        "state",
        "clicks_left",
        "has_rules",
        "created_at",
        "updated_at",
        "revision",
    ] {
        body.as_object_mut().unwrap().remove(derived);
    }
    body
}

#[actix_web::test]
async fn d28_a_creation_keeps_every_field() {
    for path in ["/v1/redirects", "/v1/landings"] {
        let api = Api::start().await;
        api.active_domain(EXAMPLE_HOSTNAME).await;
        let sample = creation(path);
        let body = sample.body_with(&api.create_all(&sample).await).unwrap();
        let created = api.call_with("POST", path, body.clone()).await;
        let shown_path = format!("{path}/{}", created.id(201));
        for field in properties(path, "post").keys() {
            let sent = body.get(field).unwrap_or_else(|| panic!("the example of {path} lacks {field}"));
            if HIDDEN.contains(&field.as_str()) {
                assert!(created.body.get(field).is_none(), "{field}");
            }
            if field != "analytics_enabled" {
                let expected = shown_of(field, sent);
                assert!(has(&shown(&created.body, field), &expected), "{field}: {sent}, {created:?}");
            }
        }
        assert_eq!(api.call("GET", &shown_path).await.body, created.body);
    }
}

/// Each field alone, then null where the field takes it, which restores what a creation without the field has.
#[actix_web::test]
async fn d33_an_update_changes_its_fields_only() {
    for path in ["/v1/redirects", "/v1/landings"] {
        let api = Api::start().await;
        api.active_domain(EXAMPLE_HOSTNAME).await;
        let sample = creation(path);
        let values = sample.body_with(&api.create_all(&sample).await).unwrap();
        let shortest = DOCUMENT.sample("POST", path).body.unwrap();
        let bare = api.call_with("POST", path, shortest).await;
        let link = format!("{path}/{}", bare.id(201));
        let mut before = api.call("GET", &link).await;
        for (field, schema) in properties(&format!("{path}/{{id}}"), "patch") {
            let value = &values[field];
            // Values that no link has by default, so that each update changes something.
            let value = match value {
                Value::Bool(_) => json!(bare.body[field] != json!(true)),
                _ => value.clone(),
            };
            api.memory.clock.advance(Duration::from_mins(1));
            let updated = api.call_with("PATCH", &link, json!({ field: value })).await;
            assert_eq!(updated.status, 200, "{updated:?}");
            let expected = shown_of(field, &value);
            assert!(has(&shown(&updated.body, field), &expected), "{field}: {value}, {updated:?}");
            let is_changed = shown(&updated.body, field) != shown(&before.body, field);
            let now = json!(api.app.clock.now().to_string());
            let expected = if is_changed { &now } else { &before.body["updated_at"] };
            assert_eq!(updated.body["updated_at"], *expected, "{field}");
            let revision = before.body["revision"].as_u64().unwrap() + u64::from(is_changed);
            assert_eq!(updated.body["revision"], json!(revision), "D120: {field}");
            assert_eq!(api.call("GET", &link).await.body, updated.body);
            let others = |answer: &Answer| {
                let mut body = without_derived(answer);
                body.as_object_mut().unwrap().remove(shown_as(field));
                body
            };
            assert_eq!(others(&updated), others(&before), "{field}");
            before = updated;
            // Null in `slug` is the root of a custom domain, and the link may be on the system domain.
            if field == "slug" || !DOCUMENT.mismatches(schema, &Value::Null).is_empty() {
                continue;
            }
            let cleared = api.call_with("PATCH", &link, json!({ field: null })).await;
            assert_eq!(cleared.status, 200, "{cleared:?}");
            assert_eq!(shown(&cleared.body, field), shown(&bare.body, field), "{field}");
            before = cleared;
        }
    }
}
