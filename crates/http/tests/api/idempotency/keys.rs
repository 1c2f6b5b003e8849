//! The header, and the account of a key.

use actix_web::http::header::HeaderValue;
use serde_json::json;
use signpost_app::keys;
use signpost_domain::IdempotencyKey;

use super::{everything, keyed, post, redirect};
use crate::harness::{Api, request};
use crate::openapi::DOCUMENT;

#[actix_web::test]
async fn d12_a_malformed_key_is_listed_with_the_violations_of_the_body() {
    let api = Api::start().await;
    let before = everything(&api).await;
    let too_long = "k".repeat(256);
    for (key, code) in [
        (b"".as_slice(), "too_short"),
        (too_long.as_bytes(), "too_long"),
        (b"two words", "invalid_format"),
        (b"a\tb", "invalid_format"),
        ("é".as_bytes(), "invalid_format"),
        (b"\xff", "invalid_format"),
    ] {
        let key = HeaderValue::from_bytes(key).unwrap();
        let call = || request("POST", "/v1/groups", &api.key).insert_header(("idempotency-key", key.clone()));
        let answer = api.send(call().set_json(json!({"name": "a"}))).await;
        assert_eq!(answer.violations(), [("Idempotency-Key", code)], "{key:?}");
        let answer = api.send(call().set_json(json!({"name": 1}))).await;
        assert_eq!(answer.violations(), [("Idempotency-Key", code), ("name", "invalid_type")], "{key:?}");
    }
    let twice = keyed("/v1/groups", &api.key, "a").append_header(("idempotency-key", "a"));
    let answer = api.send(twice.set_json(json!({"name": "a"}))).await;
    assert_eq!(answer.violations(), [("Idempotency-Key", "invalid_format")]);
    assert_eq!(everything(&api).await, before);
}

/// The document states the rule of the domain.
#[actix_web::test]
async fn d12_a_key_has_1_to_255_visible_ascii_characters() {
    let api = Api::start().await;
    let schema = &DOCUMENT["components"]["parameters"]["IdempotencyKey"]["schema"];
    let every: String = ('!'..='~').collect();
    for key in ["a", &"k".repeat(255), &every, "8e03978e-40d5-43e8-bc93-6894a57f9324"] {
        assert_eq!(post(&api, "/v1/groups", key, &json!({"name": "a"})).await.status, 201, "{key}");
        assert_eq!(DOCUMENT.mismatches(schema, &json!(key)), Vec::<String>::new());
    }
    for key in ["", &"k".repeat(256), "a b", "é", "\u{7f}"] {
        assert!(IdempotencyKey::parse(key).is_err());
        assert!(!DOCUMENT.mismatches(schema, &json!(key)).is_empty(), "{key:?}");
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
    let other = api.send(keyed("/v1/groups", &stranger, "other").set_json(json!({"name": "b"}))).await;
    assert_eq!(other.status, 201);
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
    for other in [r#"{"name": "a"}"#, r#"{"name":"\u0061"}"#, r#"{"name":"a"} "#] {
        send(other).await.assert_key_is_anothers();
    }
    for (other, violation) in [
        ("", ("body", "invalid_json")),
        ("{", ("body", "invalid_json")),
        ("[]", ("body", "invalid_type")),
        (r#"{"name":1}"#, ("name", "invalid_type")),
    ] {
        send(other).await.assert_key_is_anothers_beside(&[violation]);
    }
    assert!(send(r#"{"name":"a"}"#).await.is_replayed());
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
    let group = format!("/v1/groups/{}", api.group("g").await);
    let link = format!("/v1/redirects/{}", api.redirect("a").await);
    let pixel = format!("/v1/pixels/{}", api.pixel().await);
    let used = json!({"name": "used"});
    assert_eq!(post(&api, "/v1/groups", "k", &used).await.status, 201);
    for key in ["k", "no key"] {
        let call = |method, path| request(method, path, &api.key).insert_header(("idempotency-key", key));
        for path in ["/v1/redirects", &link, &group, &pixel, "/v1/account"] {
            for method in ["GET", "HEAD"] {
                let answer = api.send(call(method, path)).await;
                assert_eq!((answer.status, answer.is_replayed()), (200, false), "{method} {path}");
            }
        }
        for name in ["b", "c", "b"] {
            for path in [&link, &group] {
                let answer = api.send(call("PATCH", path).set_json(json!({ "name": name }))).await;
                assert_eq!((answer.status, &answer.body["name"]), (200, &json!(name)), "{path}");
                assert!(!answer.is_replayed());
            }
        }
    }
    for path in [&link, &group, &pixel] {
        for status in [200, 404] {
            let call = request("DELETE", path, &api.key).insert_header(("idempotency-key", "k"));
            let answer = api.send(call).await;
            assert_eq!((answer.status, answer.is_replayed()), (status, false), "{path}");
        }
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
    accounts::set_plan(&api.app, api.account, &plan("pro")).await.unwrap();
    let refused = again().await;
    assert_eq!(refused.error(), (403, "api_access_not_available_on_current_plan"));
    assert!(!refused.is_replayed());
    accounts::set_plan(&api.app, api.account, &plan("agency")).await.unwrap();
    accounts::suspend(&api.app, api.account).await.unwrap();
    assert_eq!(again().await.error(), (403, "account_suspended"));
    accounts::resume(&api.app, api.account).await.unwrap();
    assert!(again().await.is_replayed());
    for key in keys::list(&api.app, api.account).await.unwrap() {
        keys::revoke(&api.app, key.id).await.unwrap();
    }
    assert_eq!(again().await.error(), (401, "invalid_api_key"));
}
