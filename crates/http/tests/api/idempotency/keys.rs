//! The header, and the account of a key.

use actix_web::http::header::HeaderValue;
use serde_json::{Value, json};
use signpost_app::{Operator, keys};
use signpost_domain::IdempotencyKey;

use super::{everything, keyed, post, redirect};
use crate::harness::{Api, request};
use crate::openapi::DOCUMENT;

#[actix_web::test]
async fn d12_a_malformed_key_is_listed_with_the_violations_of_the_body() {
    let api = Api::start().await;
    let before = everything(&api).await;
    for (body, others) in
        [(json!({"name": "a"}), vec![]), (json!({"name": 1}), vec![("name", "invalid_type")])]
    {
        let call = request("POST", "/v1/groups", &api.key)
            .insert_header(("idempotency-key", HeaderValue::from_bytes(b"\xff").unwrap()));
        let expected = [vec![("Idempotency-Key", "invalid_format")], others].concat();
        assert_eq!(api.send(call.set_json(body)).await.violations(), expected);
    }
    assert_eq!(everything(&api).await, before);
}

/// The document states the rule of the domain.
#[test]
fn d12_a_key_has_1_to_255_visible_ascii_characters() {
    let schema = &DOCUMENT["components"]["parameters"]["IdempotencyKey"]["schema"];
    let every: String = ('!'..='~').collect();
    for key in ["", "a", &"k".repeat(255), &"k".repeat(256), &every, "a b", "é", "\u{7f}"] {
        assert_eq!(
            DOCUMENT.mismatches(schema, &json!(key)).is_empty(),
            IdempotencyKey::parse(key).is_ok(),
            "{key:?}"
        );
    }
}

#[actix_web::test]
async fn d12_a_key_belongs_to_the_account_for_all_its_api_keys() {
    let api = Api::start().await;
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    let (_, second) = keys::issue(&api.app, api.account, None).await.unwrap();
    let body = json!({"name": "a"});
    let first = post(&api, "/v1/groups", "k", &body).await;
    let theirs = api.send(keyed("/v1/groups", &stranger, "k").set_json(&body)).await;
    assert!(!theirs.is_replayed());
    assert_ne!(theirs.id(201), first.id(201));
    let again = api.send(keyed("/v1/groups", second.expose(), "k").set_json(&body)).await;
    assert!(again.is_replayed());
    assert_eq!(again.repeated(), first.repeated());
}

/// The bytes count, not their meaning: the same bytes are the same request.
#[actix_web::test]
async fn d12_bodies_are_compared_byte_by_byte() {
    let api = Api::start().await;
    let send = |body: &'static str| {
        let call = keyed("/v1/groups", &api.key, "k").insert_header(("content-type", "application/json"));
        api.send(call.set_payload(body))
    };
    assert_eq!(send(r#"{"name":"a"}"#).await.status, 201);
    send(r#"{"name": "a"}"#).await.assert_key_is_anothers();
    send("{").await.assert_key_is_anothers_beside(&[("body", "invalid_json")]);
}

/// Contract D8: otherwise a caller who corrects only the key would learn of the other violations one request later.
#[actix_web::test]
async fn d8_a_used_key_is_listed_with_all_other_violations() {
    let api = Api::start().await;
    post(&api, "/v1/groups", "k", &json!({"name": "a"})).await.id(201);
    let domain = api.domain("go.shop.com").await;
    let verify = format!("/v1/domains/{}/verify?x=1", domain["id"].as_str().unwrap());
    let before = everything(&api).await;
    let unknown = ("x", "unknown_field");
    for (path, body, others) in [
        ("/v1/groups?x=1", json!({"name": "b"}), vec![unknown]),
        ("/v1/groups", json!({"name": "b", "x": 1}), vec![unknown]),
        (
            "/v1/redirects?x=1",
            json!({"slug": ""}),
            vec![("name", "required"), ("slug", "too_short"), ("target_url", "required"), unknown],
        ),
        ("/v1/domains", json!({"hostname": "co.uk"}), vec![("hostname", "invalid_value")]),
        ("/v1/domains?x=1", json!({"hostname": "co.uk"}), vec![("hostname", "invalid_value"), unknown]),
        ("/v1/redirects/bulk", json!({"redirects": []}), vec![("redirects", "too_few_items")]),
        (&verify, json!({"y": 1}), vec![unknown, ("y", "unknown_field")]),
    ] {
        post(&api, path, "k", &body).await.assert_key_is_anothers_beside(&others);
    }
    assert_eq!(everything(&api).await, before);
}

/// Other methods ignore even a malformed header.
#[actix_web::test]
async fn d12_other_methods_ignore_the_header() {
    let api = Api::start().await;
    let used = json!({"name": "used"});
    assert_eq!(post(&api, "/v1/groups", "k", &used).await.status, 201);
    let send = async |method: &str, path: &str, key: &str, body: Option<&Value>| {
        let call = request(method, path, &api.key).insert_header(("idempotency-key", key));
        let call = match body {
            Some(body) => call.set_json(body),
            None => call,
        };
        let answer = api.send(call).await;
        assert!(!answer.is_replayed(), "{method} {path}");
        answer
    };
    for sample in DOCUMENT.samples().into_iter().filter(|sample| sample.method != "POST") {
        for key in ["k", "no key"] {
            let answer = send(&sample.method, &sample.path("x"), key, sample.body.as_ref()).await;
            // A second export within a minute is refused (D66).
            let is_refused_export = sample.template.ends_with("/clicks") && answer.status == 429;
            assert!(matches!(answer.status, 200 | 201 | 404) || is_refused_export, "{sample:?}: {answer:?}");
        }
    }
    let link = format!("/v1/redirects/{}", api.redirect("a").await);
    for name in ["b", "c", "b"] {
        let answer = send("PATCH", &link, "k", Some(&json!({ "name": name }))).await;
        assert_eq!((answer.status, &answer.body["name"]), (200, &json!(name)));
    }
    for status in [200, 404] {
        assert_eq!(send("DELETE", &link, "k", None).await.status, status);
    }
    assert!(post(&api, "/v1/groups", "k", &used).await.is_replayed());
}

#[actix_web::test]
async fn d7_replays_need_admission_too() {
    use signpost_app::accounts;
    use signpost_domain::PlanName;

    let api = Api::start().await;
    let again = async || post(&api, "/v1/redirects", "k", &redirect("a")).await;
    assert_eq!(again().await.status, 201);
    let plan = |name: &str| PlanName::parse(name).unwrap();
    accounts::set_plan(&api.app, &Operator::COMMAND, api.account, &plan("pro")).await.unwrap();
    let refused = again().await;
    assert_eq!(refused.error(), (403, "api_access_not_available_on_current_plan"));
    assert!(!refused.is_replayed());
    accounts::set_plan(&api.app, &Operator::COMMAND, api.account, &plan("agency")).await.unwrap();
    accounts::suspend(&api.app, &Operator::COMMAND, api.account).await.unwrap();
    assert_eq!(again().await.error(), (403, "account_suspended"));
    accounts::resume(&api.app, &Operator::COMMAND, api.account).await.unwrap();
    assert!(again().await.is_replayed());
    for key in keys::list(&api.app, api.account).await.unwrap() {
        keys::revoke(&api.app, key.id).await.unwrap();
    }
    assert_eq!(again().await.error(), (401, "invalid_api_key"));
}
