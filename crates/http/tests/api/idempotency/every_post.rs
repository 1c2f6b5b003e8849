//! Rules for every `POST`. The calls come from the examples of the OpenAPI document, so a new `POST` needs no line
//! here.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_api_conformance::Sample;

use super::{everything, post};
use crate::harness::Api;
use crate::openapi::DOCUMENT;

/// A request that changes the account's data.
struct Effective {
    path: String,
    body: Value,
    /// Another body, for the same path.
    other: Value,
}

/// Creates what the call needs.
async fn effective(api: &Api, sample: &Sample) -> Effective {
    let ids = api.create_all(sample).await;
    let id = sample.id_prefix.as_ref().map_or("", |prefix| &ids[prefix]);
    let (path, body) = (sample.path(id), sample.body_with(&ids).unwrap_or_else(|| json!({})));
    // A link can leave only its own group.
    if let Some(group) = path.strip_suffix("/unassign") {
        api.call_with("POST", &format!("{group}/assign"), body.clone()).await;
    }
    // A change by filter needs a link that matches (D124).
    if let Some(tags) = body.pointer("/filter/tag") {
        let link = json!({"name": "x", "target_url": "https://example.com/", "tags": tags});
        api.call_with("POST", "/v1/redirects", link).await.id(201);
    }
    Effective { path, body, other: DOCUMENT.other_body(sample) }
}

/// Whether a `POST` asks for something, and changes nothing but what is remembered for its key (D136).
fn is_question(path: &str) -> bool {
    path.ends_with("/test") || path == "/v1/explain"
}

fn posts() -> Vec<Sample> {
    DOCUMENT.samples().into_iter().filter(|sample| sample.method == "POST").collect()
}

#[actix_web::test]
async fn d12_every_post_runs_once_and_repeats_its_answer() {
    for sample in posts() {
        let api = Api::start().await;
        let Effective { path, body, other: _ } = effective(&api, &sample).await;
        let before = everything(&api).await;
        let first = post(&api, &path, "k", &body).await;
        assert!(matches!(first.status, 200 | 201) && !first.is_replayed(), "{path}: {first:?}");
        let after = everything(&api).await;
        assert_eq!(before == after, is_question(&path), "{path} does nothing");
        let left = api.call("GET", "/v1/account").await.rate_limits().unwrap()[1];
        for number in 1..=3 {
            api.memory.clock.advance(Duration::from_secs(1));
            let again = post(&api, &path, "k", &body).await;
            assert!(again.is_replayed(), "{path}");
            assert_eq!(again.repeated(), first.repeated(), "{path}");
            assert_ne!(again.header("x-request-id"), first.header("x-request-id"), "contract D4: {path}");
            assert_eq!(again.rate_limits().unwrap()[1], left - number, "it costs quota: {path}");
        }
        assert_eq!(everything(&api).await, after, "{path}");
    }
}

#[actix_web::test]
async fn d12_every_post_refuses_a_used_key_for_another_body_or_path() {
    let posts = posts();
    for (number, sample) in posts.iter().enumerate() {
        let api = Api::start().await;
        let Effective { path, body, other } = effective(&api, sample).await;
        let elsewhere = effective(&api, &posts[(number + 1) % posts.len()]).await;
        post(&api, &path, "k", &body).await;
        let after = everything(&api).await;
        let takes_body = sample.body.is_some();
        let of_other: &[_] = if takes_body { &[] } else { &[("nonsense", "unknown_field")] };
        post(&api, &path, "k", &other).await.assert_key_is_anothers_beside(of_other);
        post(&api, &elsewhere.path, "k", &elsewhere.body).await.assert_key_is_anothers();
        if takes_body {
            let of_body = api.call_with("POST", &path, json!({})).await;
            // The test of a redirect needs no field.
            let of_body = if of_body.status == 200 { vec![] } else { of_body.violations() };
            let with_key = post(&api, &path, "k", &json!({})).await;
            with_key.assert_key_is_anothers_beside(&of_body);
        }
        assert_eq!(everything(&api).await, after, "{path}");
        assert!(post(&api, &path, "k", &body).await.is_replayed(), "{path}");
    }
}

#[actix_web::test]
async fn d12_without_a_key_every_post_runs_each_time() {
    for sample in posts() {
        let api = Api::start().await;
        let Effective { path, body, other: _ } = effective(&api, &sample).await;
        let first = api.call_with("POST", &path, body.clone()).await;
        let again = api.call_with("POST", &path, body).await;
        assert!(!first.is_replayed() && !again.is_replayed(), "{path}");
        // Assigning a link again, connecting or verifying a domain again, and asking again gives the same answer.
        let is_kept = path.ends_with("/assign") || path.starts_with("/v1/domains") || is_question(&path);
        assert_eq!(first.text == again.text, is_kept, "{path}");
    }
}
