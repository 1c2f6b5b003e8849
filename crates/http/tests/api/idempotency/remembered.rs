//! The answers that are remembered (contract D12).

use std::time::Duration;

use serde_json::{Value, json};
use signpost_app::ports::{RememberedAnswer, RememberedRequest, RequestFingerprint};
use signpost_domain::IdempotencyKey;

use super::{keyed, post, redirect};
use crate::harness::{Answer, Api, commit, request};

/// The parts of an error that a replay repeats: all but the request id, which the harness compares with the header.
fn error_without_id(answer: &Answer) -> (u16, Value) {
    let mut body = answer.body.clone();
    assert!(body["error"]["request_id"].take().is_string());
    (answer.status, body)
}

fn assert_repeats(again: &Answer, first: &Answer) {
    assert!(again.is_replayed() && !first.is_replayed(), "{again:?}");
    assert_eq!(error_without_id(again), error_without_id(first));
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
}

#[actix_web::test]
async fn d12_a_replay_repeats_the_first_answer_after_later_changes() {
    let api = Api::start().await;
    let first = post(&api, "/v1/redirects", "k", &redirect("a")).await;
    let path = format!("/v1/redirects/{}", first.id(201));
    api.call_with("PATCH", &path, json!({"name": "b"})).await.id(200);
    assert_eq!(post(&api, "/v1/redirects", "k", &redirect("a")).await.repeated(), first.repeated());
    api.call("DELETE", &path).await.id(200);
    assert_eq!(post(&api, "/v1/redirects", "k", &redirect("a")).await.repeated(), first.repeated());
    assert_eq!(api.call("GET", &path).await.status, 404);
}

#[actix_web::test]
async fn d12_a_409_is_replayed_after_the_address_became_free() {
    let api = Api::start().await;
    let holder = api.redirect("a").await;
    let first = post(&api, "/v1/redirects", "k", &redirect("a")).await;
    assert_eq!(first.error(), (409, "slug_already_taken"));
    api.call("DELETE", &format!("/v1/redirects/{holder}")).await.id(200);
    assert_repeats(&post(&api, "/v1/redirects", "k", &redirect("a")).await, &first);
    post(&api, "/v1/redirects", "k", &redirect("b")).await.assert_key_is_anothers();
    assert_eq!(post(&api, "/v1/redirects", "other", &redirect("a")).await.status, 201);
}

/// Contract D12: a corrected body may use the same key.
#[actix_web::test]
async fn d12_an_invalid_request_leaves_its_key_unused() {
    let api = Api::start().await;
    let as_json = ("content-type", "application/json");
    let call = |path| keyed(path, &api.key, "k");
    let unknown_pixel = json!({
        "name": "a", "target_url": "https://example.com/", "pixel_ids": ["pxl_00000000000000000000000000000000"],
    });
    let root = json!({"name": "a", "target_url": "https://example.com/", "slug": null});
    for (refused, status, code) in [
        (call("/v1/redirects").set_json(json!({"name": ""})), 400, "invalid_request"),
        (call("/v1/redirects").set_json(unknown_pixel), 400, "invalid_request"),
        (call("/v1/redirects").set_json(root), 400, "slug_required_for_system_domain"),
        (call("/v1/redirects?x=1").set_json(redirect("a")), 400, "invalid_request"),
        (call("/v1/redirects").insert_header(as_json).set_payload("{"), 400, "invalid_request"),
        (call("/v1/redirects").insert_header(as_json), 400, "invalid_request"),
        (call("/v1/redirects").set_payload("name"), 415, "unsupported_media_type"),
        (
            call("/v1/redirects").insert_header(as_json).set_payload(vec![b' '; 1024 * 1024 + 1]),
            413,
            "payload_too_large",
        ),
        (call("/v1/nothing").set_json(redirect("a")), 404, "invalid_request"),
        (call("/v1/account").set_json(redirect("a")), 405, "invalid_request"),
    ] {
        let answer = api.send(refused).await;
        assert_eq!(answer.error(), (status, code));
        assert!(!answer.is_replayed());
    }
    let corrected = post(&api, "/v1/redirects", "k", &redirect("a")).await;
    assert_eq!((corrected.status, corrected.is_replayed()), (201, false));
}

/// An unknown query makes it another, invalid request, although path and body are the same.
#[actix_web::test]
async fn d8_an_unknown_parameter_is_a_violation_even_with_a_used_key() {
    let api = Api::start().await;
    post(&api, "/v1/redirects", "k", &redirect("a")).await.id(201);
    let answer = post(&api, "/v1/redirects?x=1", "k", &redirect("a")).await;
    assert_eq!(answer.violations(), [("x", "unknown_field")]);
    assert!(!answer.is_replayed());
}

#[actix_web::test]
async fn d12_answers_429_are_not_remembered() {
    let api = Api::start().await;
    let send = async |key| post(&api, "/v1/groups", key, &json!({"name": "a"})).await;
    let first = send("used").await;
    for _ in 1..120 {
        api.call("GET", "/v1/account").await;
    }
    for key in ["new", "used"] {
        let refused = send(key).await;
        assert_eq!(refused.error(), (429, "rate_limit_exceeded"));
        assert!(!refused.is_replayed());
    }
    api.memory.clock.advance(Duration::from_mins(1));
    let new = send("new").await;
    assert_eq!((new.status, new.is_replayed()), (201, false));
    assert_eq!(send("used").await.repeated(), first.repeated());
}

/// Another version may have written the store, or it may be damaged.
#[actix_web::test]
async fn d6_a_corrupt_remembered_answer_is_a_500() {
    let api = Api::start().await;
    let body = json!({"name": "a"});
    let bytes = serde_json::to_vec(&body).unwrap();
    let answer = |status, location: Option<&str>, body: &str| RememberedAnswer {
        status,
        location: location.map(str::to_owned),
        body: body.to_owned(),
    };
    for (key, answer) in [
        ("status", answer(42, None, "{}")),
        ("location", answer(201, Some("/v1/\n"), "{}")),
        ("refusal", answer(409, None, "{}")),
    ] {
        let (now, name) = (api.app.clock.now(), IdempotencyKey::parse(key).unwrap());
        let fingerprint = RequestFingerprint::of("POST", "/v1/groups", &bytes);
        let mut work = api.app.store.begin().await.unwrap();
        assert_eq!(work.claim_key(api.account.into(), &name, now).await.unwrap(), None);
        let remembered = RememberedRequest { fingerprint, answer };
        work.remember_answer(api.account.into(), &name, &remembered, now).await.unwrap();
        commit(work).await;
        let again = post(&api, "/v1/groups", key, &body).await;
        assert_eq!((again.error(), again.is_replayed()), ((500, "internal_error"), false), "{key}");
    }
    let call = request("GET", "/v1/groups", &api.key);
    assert_eq!(api.send(call).await.body["data"], json!([]));
}
