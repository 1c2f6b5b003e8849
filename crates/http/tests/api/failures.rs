//! Failures of the service: a 500 in the contract's form, without the cause (D6).

use std::sync::Arc;

use serde_json::json;
use signpost_app::ports::TargetBlocklist;
use signpost_domain::{HostBlocklist, RedirectId};
use signpost_memory::{Fault, InMemory, Step};

use crate::harness::{Answer, Api, request};

fn assert_hides_its_cause(answer: &Answer) {
    assert_eq!(answer.error(), (500, "internal_error"));
    let body = answer.body.to_string();
    for word in ["store", "switched off", "links", "corrupt", "broken on request", "panic", "blocklist"] {
        assert!(!body.contains(word), "{word} in {body}");
    }
}

#[actix_web::test]
async fn an_unreachable_store_is_a_500_without_a_budget_before_identification() {
    let api = Api::start().await;
    api.memory.store.faults().set_unavailable(true);
    let answer = api.call("GET", "/v1/account").await;
    assert_hides_its_cause(&answer);
    assert_eq!(answer.rate_limits(), None);
    // A malformed key is refused without the store (D13).
    for key in ["sp_live_nobody", &api.key[1..], &format!("{}x", api.key), &api.key.to_lowercase()] {
        assert_eq!(api.send(request("GET", "/v1/account", key)).await.error(), (401, "invalid_api_key"));
    }
}

#[actix_web::test]
async fn d17_a_500_to_an_identified_account_carries_its_budget() {
    let api = Api::start().await;
    for step in [Step::Begin, Step::Write, Step::Commit] {
        for fault in [Fault::Unavailable, Fault::Corrupt] {
            api.memory.store.faults().fail_next(step, fault, 1);
            let answer = api.call_with("POST", "/v1/groups", json!({"name": "a"})).await;
            assert_hides_its_cause(&answer);
            assert_eq!(answer.rate_limits().map(|limits| limits[0]), Some(120), "{step:?} {fault:?}");
        }
    }
    assert_eq!(api.call("GET", "/v1/groups").await.body["data"], json!([]));
}

/// Only requests for the unreadable link itself fail, except its deletion.
#[actix_web::test]
async fn d6_lists_omit_unreadable_links() {
    let api = Api::start().await;
    let mut ids = Vec::new();
    for slug in ["a", "b", "c"] {
        let link = json!({"name": slug, "slug": slug, "target_url": "https://example.com/"});
        let answer = api.call_with("POST", "/v1/redirects", link).await;
        ids.push(answer.body["id"].as_str().unwrap().to_owned());
    }
    let broken: RedirectId = ids[1].parse().unwrap();
    api.memory.store.faults().spoil(broken.to_bytes());
    let mut cursor = String::new();
    let mut pages = Vec::new();
    while pages.len() < 3 {
        let page = api.call("GET", &format!("/v1/redirects?limit=1{cursor}")).await;
        assert_eq!(page.status, 200);
        let names: Vec<String> =
            page.body["data"].as_array().unwrap().iter().map(|link| link["name"].to_string()).collect();
        pages.push(names.concat());
        cursor = format!("&cursor={}", page.body["pagination"]["next_cursor"].as_str().unwrap_or_default());
    }
    assert_eq!(pages, ["\"c\"", "", "\"a\""]);
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["links"], 3);
    let path = format!("/v1/redirects/{}", ids[1]);
    assert_hides_its_cause(&api.call("GET", &path).await);
    assert_eq!(api.call("DELETE", &path).await.status, 200);
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["links"], 2);
}

/// R40: on a full or read-only disk, the answer has the reason and the time of the next attempt.
#[actix_web::test]
async fn r40_an_unwritable_store_is_a_503_with_the_reason() {
    let api = Api::start().await;
    for step in [Step::Begin, Step::Write, Step::Commit] {
        api.memory.store.faults().fail_next(step, Fault::Unwritable, 1);
        let answer = api.call_with("POST", "/v1/groups", json!({"name": "a"})).await;
        assert_eq!(answer.error(), (503, "internal_error"), "{step:?}");
        assert_eq!(answer.header("retry-after"), Some("10"));
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(message.contains("can store no changes") && message.contains("can be read"), "{message}");
        assert_eq!(answer.rate_limits().map(|limits| limits[0]), Some(120), "{step:?}");
    }
    assert_eq!(api.call("GET", "/v1/groups").await.body["data"], json!([]));
}

#[actix_web::test]
async fn an_unreachable_quota_store_is_a_500_with_the_accounts_budget() {
    let api = Api::start().await;
    api.memory.quota.set_unavailable(true);
    let answer = api.call("GET", "/v1/account").await;
    assert_hides_its_cause(&answer);
    assert_eq!(answer.rate_limits().map(|limits| (limits[0], limits[2])), Some((120, 10_000)));
}

/// A blocklist whose reader panics.
struct Panicking;

impl TargetBlocklist for Panicking {
    fn current(&self) -> Arc<HostBlocklist> {
        panic!("the blocklist of this test panics");
    }

    fn version(&self) -> u64 {
        0
    }
}

#[actix_web::test]
async fn a_panic_in_a_handler_fails_only_its_own_request() {
    let api = Api::on(InMemory::default(), |app| app.target_blocklist = Arc::new(Panicking)).await;
    for _ in 0..3 {
        let body = json!({"name": "a", "target_url": "https://example.com/"});
        let answer = api.call_with("POST", "/v1/redirects", body).await;
        assert_hides_its_cause(&answer);
        assert_eq!(answer.rate_limits().map(|limits| limits[0]), Some(120));
        assert_eq!(api.call("GET", "/v1/redirects").await.status, 200);
    }
}

#[actix_web::test]
async fn answers_do_not_echo_requests() {
    let api = Api::start().await;
    let secret = "not-for-anybody";
    for answer in [
        api.send(request("GET", "/v1/account", secret)).await,
        api.call("GET", &format!("/v1/redirects/{secret}")).await,
        api.call("GET", &format!("/v1/redirects?limit={secret}&cursor={secret}&is_active={secret}")).await,
        api.call("GET", &format!("/v1/account?key={secret}")).await,
        api.call_with("POST", "/v1/redirects", json!({"name": [secret], "target_url": secret, "x": secret}))
            .await,
        api.call_with("PATCH", "/v1/groups/x", json!(secret)).await,
    ] {
        assert!(answer.status >= 400);
        assert!(!answer.body.to_string().contains(secret), "{answer:?}");
        assert!(!format!("{:?}", answer.headers).contains(secret), "{answer:?}");
    }
}
