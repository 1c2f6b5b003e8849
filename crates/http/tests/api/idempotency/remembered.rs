//! What is remembered, and for how long.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use signpost_app::ports::{ANSWERS_KEPT, RememberedAnswer, RememberedRequest, RequestFingerprint};
use signpost_domain::{IdempotencyKey, PlanLimits, PlanName, Plans};
use signpost_memory::{Fault, InMemory, Step};

use super::{everything, keyed, post, redirect};
use crate::harness::{Answer, Api, commit, request};

/// What a replay repeats of an error: all but its own request id, which the harness compares with the header.
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
async fn d12_an_answer_is_remembered_for_24_hours() {
    let api = Api::start().await;
    let send = async || post(&api, "/v1/groups", "k", &json!({"name": "a"})).await;
    let first = send().await;
    api.memory.clock.advance(ANSWERS_KEPT.checked_sub(Duration::from_millis(1)).unwrap());
    let last = send().await;
    assert!(last.is_replayed());
    assert_eq!(last.repeated(), first.repeated());
    api.memory.clock.advance(Duration::from_millis(1));
    let second = send().await;
    assert!(!second.is_replayed());
    assert_ne!(second.id(201), first.id(201));
    // Then the key is that one's, and may be used for something else once more.
    assert_eq!(send().await.repeated(), second.repeated());
    api.memory.clock.advance(ANSWERS_KEPT);
    assert_eq!(post(&api, "/v1/redirects", "k", &redirect("a")).await.status, 201);
}

#[actix_web::test]
async fn d12_the_first_answer_is_given_also_if_what_it_shows_has_changed_since() {
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
async fn d12_a_409_is_answered_again_though_the_address_has_become_free() {
    let api = Api::start().await;
    let holder = api.redirect("a").await;
    let first = post(&api, "/v1/redirects", "k", &redirect("a")).await;
    assert_eq!(first.error(), (409, "slug_already_taken"));
    api.call("DELETE", &format!("/v1/redirects/{holder}")).await.id(200);
    assert_repeats(&post(&api, "/v1/redirects", "k", &redirect("a")).await, &first);
    post(&api, "/v1/redirects", "k", &redirect("b")).await.assert_key_is_anothers();
    assert_eq!(post(&api, "/v1/redirects", "other", &redirect("a")).await.status, 201);
}

#[actix_web::test]
async fn d12_a_404_is_answered_again() {
    let api = Api::start().await;
    let link = api.landing("a").await;
    let group = "grp_00000000000000000000000000000000";
    let mut into_group = redirect("b");
    into_group["group_id"] = json!(group);
    for (path, body) in [
        (format!("/v1/groups/{group}/assign"), json!({ "link_ids": [link] })),
        (format!("/v1/groups/{group}/unassign"), json!({ "link_ids": [link] })),
        ("/v1/groups/nonsense/assign".to_owned(), json!({ "link_ids": [link] })),
        ("/v1/redirects".to_owned(), into_group),
    ] {
        let first = post(&api, &path, &path, &body).await;
        assert_eq!(first.error(), (404, "group_not_found"), "{path}");
        assert_repeats(&post(&api, &path, &path, &body).await, &first);
    }
}

#[actix_web::test]
async fn d12_a_403_of_the_operation_is_answered_again_though_there_is_room_by_then() {
    let mut memory = InMemory::default();
    let agency = memory.plans.get(&PlanName::parse("agency").unwrap()).unwrap().clone();
    let limits = PlanLimits { links: 1, groups: 1, pixels: 1, ..agency.limits };
    memory.plans = Plans::builtin().with(signpost_domain::Plan { limits, ..agency });
    let api = Api::on(memory, |_| {}).await;
    let pixel = json!({"pixel_type": "meta", "pixel_id": "123456789012345"});
    for (path, body) in
        [("/v1/redirects", redirect("a")), ("/v1/groups", json!({"name": "a"})), ("/v1/pixels", pixel)]
    {
        let there = api.call_with("POST", path, body.clone()).await.id(201);
        let mut body = body;
        if path == "/v1/redirects" {
            body = redirect("b");
        }
        let first = post(&api, path, path, &body).await;
        assert_eq!(first.error(), (403, "plan_limit_reached"), "{path}");
        api.call("DELETE", &format!("{path}/{there}")).await.id(200);
        assert_repeats(&post(&api, path, path, &body).await, &first);
        assert_eq!(post(&api, path, &format!("{path}2"), &body).await.status, 201);
    }
}

/// Contract D12: a corrected body may use the same key.
#[actix_web::test]
async fn d12_a_request_that_was_invalid_leaves_its_key_unused() {
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

/// With a query that no `POST` takes it is another request, though path and body are the same: an invalid one.
#[actix_web::test]
async fn d8_a_parameter_that_is_unknown_is_told_also_where_the_key_was_used() {
    let api = Api::start().await;
    post(&api, "/v1/redirects", "k", &redirect("a")).await.id(201);
    let answer = post(&api, "/v1/redirects?x=1", "k", &redirect("a")).await;
    assert_eq!(answer.violations(), [("x", "unknown_field")]);
    assert!(!answer.is_replayed());
}

#[actix_web::test]
async fn d12_what_is_refused_for_want_of_quota_is_not_remembered() {
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

#[actix_web::test]
async fn d12_after_a_500_the_same_request_is_carried_out() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let api = Api::start().await;
        let send = async || post(&api, "/v1/groups", "k", &json!({"name": "a"})).await;
        api.memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        let broken = send().await;
        assert_eq!((broken.error(), broken.is_replayed()), ((500, "internal_error"), false));
        let second = send().await;
        assert_eq!((second.status, second.is_replayed()), (201, false), "{step:?}");
        assert_eq!(send().await.repeated(), second.repeated());
        assert_eq!(api.call("GET", "/v1/groups").await.body["data"].as_array().unwrap().len(), 1);
    }
}

#[actix_web::test]
async fn d12_of_many_at_the_same_time_one_is_carried_out_and_the_others_get_its_answer() {
    let api = Api::start().await;
    let bulk = json!({"redirects": [redirect("a"), redirect("b"), redirect("a")]});
    for (path, body) in [
        ("/v1/redirects", redirect("one")),
        ("/v1/groups", json!({"name": "a"})),
        ("/v1/redirects/bulk", bulk),
    ] {
        let answers = join_all((0..10).map(|_| post(&api, path, path, &body))).await;
        assert_eq!(answers.iter().filter(|answer| !answer.is_replayed()).count(), 1, "{path}");
        assert!(answers.iter().all(|answer| answer.repeated() == answers[0].repeated()), "{path}");
        assert!(matches!(answers[0].status, 200 | 201), "{path}");
    }
    let [redirects, _, groups, _, _] = &everything(&api).await[..] else { panic!("five lists") };
    assert_eq!((redirects.as_array().unwrap().len(), groups.as_array().unwrap().len()), (3, 1));
}

/// A store may have been written by another version, or damaged.
#[actix_web::test]
async fn d6_what_was_remembered_and_is_no_answer_is_a_500() {
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
        assert_eq!(work.claim_key(api.account, &name, now).await.unwrap(), None);
        let remembered = RememberedRequest { fingerprint, answer };
        work.remember_answer(api.account, &name, &remembered, now).await.unwrap();
        commit(work).await;
        let again = post(&api, "/v1/groups", key, &body).await;
        assert_eq!((again.error(), again.is_replayed()), ((500, "internal_error"), false), "{key}");
    }
    let call = request("GET", "/v1/groups", &api.key);
    assert_eq!(api.send(call).await.body["data"], json!([]));
}
