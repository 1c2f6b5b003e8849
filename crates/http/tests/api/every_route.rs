//! Rules for every endpoint, including new ones. The calls come from the examples of the OpenAPI document, so a new
//! endpoint needs no line here. A test of the document fails if the document lacks a route.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_api_conformance::Sample;
use signpost_domain::ErrorCode;
use signpost_domain::id::ID_PREFIXES;

use crate::harness::{Answer, Api, bare, request};
use crate::openapi::DOCUMENT;

const UNKNOWN_DIGITS: &str = "00000000000000000000000000000000";

/// A hostname in examples of the document.
const EXAMPLE_HOSTNAME: &str = "links.example.org";

async fn call(api: &Api, sample: &Sample, path: &str, key: Option<&str>, body: Option<&Value>) -> Answer {
    let call = key.map_or_else(|| bare(&sample.method, path), |key| request(&sample.method, path, key));
    api.send(match body {
        Some(body) => call.set_json(body),
        None => call,
    })
    .await
}

/// Another test compares this with the route table.
fn is_admitted(sample: &Sample) -> bool {
    sample.template.starts_with("/v1/")
}

#[actix_web::test]
async fn d7_every_endpoint_under_v1_needs_a_key_and_a_plan_with_the_api() {
    let api = Api::start().await;
    let (_, free_key) = api.account("bob@example.com", "free").await;
    for sample in DOCUMENT.samples().into_iter().filter(is_admitted) {
        let (path, body) = (sample.path("rdr_1"), sample.body.as_ref());
        assert_eq!(
            call(&api, &sample, &path, None, body).await.error(),
            (401, "invalid_api_key"),
            "{sample:?}"
        );
        let refused = call(&api, &sample, &path, Some(&free_key), body).await;
        assert_eq!(refused.error(), (403, "api_access_not_available_on_current_plan"), "{sample:?}");
        api.memory.clock.advance(Duration::from_mins(1));
    }
}

#[actix_web::test]
async fn d7_every_other_endpoint_needs_no_key() {
    let api = Api::start().await;
    api.active_domain(EXAMPLE_HOSTNAME).await;
    for sample in DOCUMENT.samples().into_iter().filter(|sample| !is_admitted(sample)) {
        assert_eq!(call(&api, &sample, &sample.path("x"), None, None).await.status, 200, "{sample:?}");
    }
}

/// The owner's call with the own id succeeds, so this also tests that the examples of the document work.
#[actix_web::test]
async fn d2_foreign_unknown_and_malformed_ids_get_the_same_answer() {
    let api = Api::start().await;
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    for sample in DOCUMENT.samples().into_iter().filter(is_admitted) {
        let Some(prefix) = &sample.id_prefix else { continue };
        let ids = api.create_all(&sample).await;
        let body = sample.body_with(&ids);
        let own = &ids[prefix];
        let kind = sample.template.split('/').nth(2).unwrap().trim_end_matches('s');
        // Pixels and tags have no code of their own (D6).
        let code = format!("{kind}_not_found");
        let code =
            if ErrorCode::ALL.iter().any(|known| known.as_str() == code) { &code } else { "invalid_request" };
        let mut foreign = vec![
            own.clone(),
            format!("{prefix}{UNKNOWN_DIGITS}"),
            own.to_uppercase(),
            own.replace(prefix, ""),
            format!("{own}0"),
            own[..own.len() - 1].to_owned(),
            "%FF%FE".to_owned(),
            "%zz".to_owned(),
            "%00".to_owned(),
            "a%2Fb".to_owned(),
            "x".repeat(5_000),
        ];
        let others = ID_PREFIXES.iter().filter(|other| *other != prefix);
        foreign.extend(others.map(|other| own.replace(prefix, other)));
        let mut answers = Vec::new();
        for id in foreign {
            let answer = call(&api, &sample, &sample.path(&id), Some(&stranger), body.as_ref()).await;
            assert_eq!(answer.error(), (404, code), "{sample:?} {id}: {answer:?}");
            answers.push(answer);
            api.memory.clock.advance(Duration::from_mins(1));
        }
        for answer in &mut answers {
            answer.body["error"]["request_id"].take();
        }
        assert!(answers.iter().all(|answer| answer.body == answers[0].body), "{answers:?}");
        let found = call(&api, &sample, &sample.path(own), Some(&api.key), body.as_ref()).await;
        // A second export within a minute is refused once its link is found (D66).
        let is_refused_export = sample.template.ends_with("/clicks") && found.status == 429;
        assert!(found.status == 200 || is_refused_export, "{sample:?}: {found:?}");
    }
}

#[actix_web::test]
async fn d5_every_resource_is_created_shown_listed_and_deleted() {
    let api = Api::start().await;
    for collection in DOCUMENT.collections() {
        let body = DOCUMENT.sample("POST", collection).fresh_body(0).unwrap();
        let created = api.call_with("POST", collection, body).await;
        let id = created.id(201);
        let path = format!("{collection}/{id}");
        assert_eq!(created.header("location"), Some(path.as_str()));
        assert_eq!(api.call("GET", &path).await.body, created.body);
        let listed = api.call("GET", collection).await.body;
        assert_eq!((listed["data"].as_array().unwrap().len(), &listed["data"][0]["id"]), (1, &json!(id)));
        let deleted = api.call("DELETE", &path).await;
        let (object, message) = (&created.body["object"], &deleted.body["message"]);
        assert!(message.as_str().is_some_and(|message| !message.is_empty()), "{deleted:?}");
        let expected = json!({"id": id, "object": object, "deleted": true, "message": message});
        assert_eq!((deleted.status, &deleted.body), (200, &expected));
        for method in ["GET", "DELETE"] {
            assert_eq!(api.call(method, &path).await.status, 404, "{method} {path}");
        }
        assert_eq!(api.call("GET", collection).await.body["data"], json!([]));
    }
}

#[actix_web::test]
async fn d8_every_endpoint_refuses_unknown_parameters() {
    let api = Api::start().await;
    for sample in DOCUMENT.samples() {
        let path = sample.path_with("x", "nonsense=1");
        let answer = call(&api, &sample, &path, Some(&api.key), sample.body.as_ref()).await;
        assert_eq!(answer.violations(), [("nonsense", "unknown_field")], "{sample:?}");
    }
}

/// A `POST` without fields takes an empty object.
fn takes_body(sample: &Sample) -> bool {
    sample.body.is_some() || sample.method == "POST"
}

#[actix_web::test]
async fn d10_every_endpoint_with_a_body_accepts_only_json() {
    let api = Api::start().await;
    for sample in DOCUMENT.samples().into_iter().filter(takes_body) {
        let call = || request(&sample.method, &sample.path("x"), &api.key);
        let text = call().insert_header(("content-length", "4")).set_payload("oops");
        assert_eq!(api.send(text).await.error(), (415, "unsupported_media_type"), "{sample:?}");
        let json = call().insert_header(("content-length", "4")).set_payload("oops");
        let json = json.insert_header(("content-type", "application/json"));
        assert_eq!(api.send(json).await.violations(), [("body", "invalid_json")], "{sample:?}");
        let unknown = call().set_json(json!({"nonsense": 1})).insert_header(("content-length", "14"));
        assert!(api.send(unknown).await.violations().contains(&("nonsense", "unknown_field")), "{sample:?}");
        api.memory.clock.advance(Duration::from_mins(1));
    }
}

/// Contract D8: an ignored body would be dropped silently. The headers alone decide, so type, size and arrival of the body
/// do not matter.
#[actix_web::test]
async fn d8_every_endpoint_without_a_body_refuses_one_by_its_headers() {
    let api = Api::start().await;
    for sample in DOCUMENT.samples().into_iter().filter(|sample| !takes_body(sample)) {
        for (name, value) in [
            ("content-length", "2"),
            ("content-length", "1048577"),
            ("content-length", "18446744073709551615"),
            ("transfer-encoding", "chunked"),
        ] {
            let call = request(&sample.method, &sample.path("x"), &api.key);
            let answer = api.send(call.insert_header((name, value))).await;
            assert_eq!(answer.violations(), [("body", "unknown_field")], "{sample:?} {name}: {value}");
        }
        let empty = request(&sample.method, &sample.path("x"), &api.key)
            .insert_header(("content-type", "text/plain"))
            .insert_header(("content-length", "0"));
        assert_ne!(api.send(empty).await.status, 400, "{sample:?}");
        api.memory.clock.advance(Duration::from_mins(1));
    }
}

#[actix_web::test]
async fn every_path_with_get_answers_head() {
    let api = Api::start().await;
    for sample in DOCUMENT.samples() {
        let head = api.call("HEAD", &sample.path("x")).await;
        let takes_get = DOCUMENT["paths"][&sample.template].get("get").is_some();
        assert_eq!(head.status != 405, takes_get, "{sample:?}");
    }
}
