//! Headers of answers: contract "Request budget", D4, D17.

use actix_web::http::header::HeaderValue;
use serde_json::json;
use signpost_app::{Operator, accounts};

use crate::harness::{Answer, Api, bare, request};

fn assert_identified(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{answer:?}");
    let [limit_minute, left_minute, limit_day, left_day] = answer.rate_limits().expect("contract D17");
    assert_eq!((limit_minute, limit_day), (120, 10_000));
    assert!(left_minute < 120 && left_day < 10_000);
}

#[actix_web::test]
async fn d17_every_answer_to_an_identified_account_carries_its_budget() {
    let api = Api::start().await;
    assert_identified(&api.call("GET", "/v1/account").await, 200);
    assert_identified(&api.call_with("POST", "/v1/groups", json!({"name": "a"})).await, 201);
    assert_identified(&api.call_with("POST", "/v1/groups", json!({})).await, 400);
    assert_identified(&api.call("GET", "/v1/redirects/rdr_1").await, 404);
    assert_identified(&api.call("GET", "/v1/nothing").await, 404);
    assert_identified(&api.call("PUT", "/v1/account").await, 405);
    assert_identified(&api.call("OPTIONS", "/v1/account").await, 405);
    let large = request("POST", "/v1/groups", &api.key)
        .insert_header(("content-type", "application/json"))
        .set_payload(vec![b' '; 2 * 1024 * 1024]);
    assert_identified(&api.send(large).await, 413);
    let text = request("POST", "/v1/groups", &api.key).set_payload("name");
    assert_identified(&api.send(text).await, 415);
}

#[actix_web::test]
async fn d17_a_plan_without_the_api_has_limits_of_0() {
    let api = Api::start().await;
    let (_, key) = api.account("bob@example.com", "pro").await;
    let answer = api.send(request("GET", "/v1/account", &key)).await;
    assert_eq!(answer.error(), (403, "api_access_not_available_on_current_plan"));
    assert_eq!(answer.rate_limits(), Some([0; 4]));
}

#[actix_web::test]
async fn d17_a_suspended_account_sees_its_budget_and_spends_none() {
    let api = Api::start().await;
    api.call("GET", "/v1/account").await;
    accounts::suspend(&api.app, &Operator::COMMAND, api.account).await.unwrap();
    for _ in 0..3 {
        let answer = api.call("GET", "/v1/account").await;
        assert_eq!(answer.error(), (403, "account_suspended"));
        assert_eq!(answer.rate_limits(), Some([120, 119, 10_000, 9_999]));
    }
}

#[actix_web::test]
async fn a_401_carries_no_budget() {
    let api = Api::start().await;
    let not_text = HeaderValue::from_bytes(b"Bearer \xff\xff").unwrap();
    for answer in [
        api.send(bare("GET", "/v1/account")).await,
        api.send(request("GET", "/v1/account", "nobody")).await,
        api.send(request("GET", "/v1/account", &api.key).append_header(("authorization", "Bearer x"))).await,
        api.send(bare("GET", "/v1/account").insert_header(("authorization", not_text))).await,
    ] {
        assert_eq!(answer.error(), (401, "invalid_api_key"));
        assert_eq!(answer.rate_limits(), None);
    }
}

#[actix_web::test]
async fn an_exhausted_minute_tells_its_end_and_keeps_its_budget() {
    let api = Api::start().await;
    for left in (0..120).rev() {
        assert_eq!(api.call("GET", "/v1/account").await.rate_limits().unwrap()[1], left);
    }
    for _ in 0..2 {
        let answer = api.call("GET", "/v1/account").await;
        assert_eq!(answer.error(), (429, "rate_limit_exceeded"));
        assert_eq!(answer.rate_limits(), Some([120, 0, 10_000, 9_880]));
        assert_eq!(answer.header("retry-after"), Some("53"));
    }
}

#[actix_web::test]
async fn d4_request_ids_are_unique() {
    let api = Api::start().await;
    let mut ids = std::collections::HashSet::new();
    for _ in 0..10 {
        assert!(ids.insert(api.call("GET", "/v1/account").await.header("x-request-id").unwrap().to_owned()));
    }
}

#[actix_web::test]
async fn d6_a_path_without_an_endpoint_is_a_404() {
    let api = Api::start().await;
    for path in ["/v1", "/v1/", "/v1/redirects/", "/v1/redirects/a/b", "/v1/Redirects", "/v1//redirects"] {
        assert_eq!(api.call("GET", path).await.error(), (404, "invalid_request"), "{path}");
    }
}

#[actix_web::test]
async fn d6_a_405_lists_the_methods_of_the_path() {
    let api = Api::start().await;
    for (path, allow) in [
        ("/v1/redirects", "POST, GET, HEAD"),
        ("/v1/redirects/rdr_1", "GET, HEAD, PATCH, DELETE"),
        ("/v1/redirects/bulk", "POST, PATCH"),
        ("/v1/redirects/update-matching", "POST"),
        ("/v1/groups", "POST, GET, HEAD"),
        ("/v1/groups/grp_1", "GET, HEAD, PATCH, DELETE"),
        ("/v1/account", "GET, HEAD"),
        ("/health/live", "GET, HEAD"),
    ] {
        for method in ["PUT", "OPTIONS", "TRACE", "get", "BREW"] {
            let answer = api.call(method, path).await;
            assert_eq!(answer.error(), (405, "invalid_request"), "{method} {path}");
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        }
    }
}

#[actix_web::test]
async fn head_has_the_headers_of_get() {
    let api = Api::start().await;
    for (path, status) in
        [("/v1/redirects", 200), ("/v1/account", 200), ("/v1/groups/grp_1", 404), ("/health/live", 200)]
    {
        let (get, head) = (api.call("GET", path).await, api.call("HEAD", path).await);
        assert_eq!((get.status, head.status), (status, status), "{path}");
        let mut names: Vec<_> = get.headers.keys().map(ToString::to_string).collect();
        let mut head_names: Vec<_> = head.headers.keys().map(ToString::to_string).collect();
        names.sort();
        head_names.sort();
        assert_eq!(names, head_names, "{path}");
    }
}
