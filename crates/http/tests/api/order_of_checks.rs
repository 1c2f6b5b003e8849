//! Contract D7: per-address throttle → key → suspended account → plan → quota → route and method → content type
//! and size → body.

use serde_json::json;
use signpost_app::{Operator, accounts};
use signpost_memory::InMemory;

use crate::harness::{Api, bare, request};

const TOO_LARGE: usize = 1024 * 1024 + 1;

/// Each request corrects only the mistake for which the previous one was refused.
#[actix_web::test]
async fn d7_the_first_failed_check_decides_the_answer() {
    let api = Api::start().await;
    let wrong_body = |method: &str, uri: &str, key: &str| {
        request(method, uri, key)
            .insert_header(("content-type", "text/plain"))
            .set_payload(vec![b'a'; TOO_LARGE])
    };

    let nobody = wrong_body("PUT", "/v1/nothing?x=%zz", "sp_live_nobody");
    assert_eq!(api.send(nobody).await.error(), (401, "invalid_api_key"));

    let (suspended, suspended_key) = api.account("eve@example.com", "free").await;
    accounts::suspend(&api.app, &Operator::COMMAND, suspended).await.unwrap();
    let answer = api.send(wrong_body("PUT", "/v1/nothing?x=%zz", &suspended_key)).await;
    assert_eq!(answer.error(), (403, "account_suspended"));

    let (_, free_key) = api.account("bob@example.com", "free").await;
    let answer = api.send(wrong_body("PUT", "/v1/nothing?x=%zz", &free_key)).await;
    assert_eq!(answer.error(), (403, "api_access_not_available_on_current_plan"));

    let (_, busy_key) = api.account("zoe@example.com", "agency").await;
    for _ in 0..120 {
        assert_eq!(api.send(request("GET", "/v1/account", &busy_key)).await.status, 200);
    }
    let answer = api.send(wrong_body("PUT", "/v1/nothing?x=%zz", &busy_key)).await;
    assert_eq!(answer.error(), (429, "rate_limit_exceeded"));

    let key = &api.key;
    let answer = api.send(wrong_body("PUT", "/v1/nothing?x=%zz", key)).await;
    assert_eq!(answer.error(), (404, "invalid_request"));
    let answer = api.send(wrong_body("PUT", "/v1/redirects?x=%zz", key)).await;
    assert_eq!(answer.error(), (405, "invalid_request"));
    let answer = api.send(wrong_body("POST", "/v1/redirects?x=%zz", key)).await;
    assert_eq!(answer.error(), (415, "unsupported_media_type"));
    let as_json =
        wrong_body("POST", "/v1/redirects?x=%zz", key).insert_header(("content-type", "application/json"));
    assert_eq!(api.send(as_json).await.error(), (413, "payload_too_large"));
    let answer = api.call_with("POST", "/v1/redirects?x=%zz", json!({"group_id": "grp_1"})).await;
    assert_eq!(
        answer.violations(),
        [("name", "required"), ("target_url", "required"), ("x", "invalid_format"), ("x", "unknown_field")]
    );
    let body = json!({"name": "a", "target_url": "https://example.com/", "group_id": "grp_1"});
    assert_eq!(api.call_with("POST", "/v1/redirects", body).await.error(), (404, "group_not_found"));
}

#[actix_web::test]
async fn d18_after_30_rejected_requests_an_address_is_throttled_before_any_look_up() {
    let api = Api::start().await;
    let (_, free_key) = api.account("bob@example.com", "free").await;
    for number in 0..30 {
        let key = if number % 2 == 0 { "nobody" } else { &free_key };
        assert!(matches!(api.send(request("GET", "/v1/account", key)).await.status, 401 | 403));
    }
    for answer in [
        api.send(bare("GET", "/v1/nothing")).await,
        api.send(request("GET", "/v1/account", &free_key)).await,
        // A valid key that this node has not accepted recently is throttled too.
        api.call("GET", "/v1/account").await,
    ] {
        assert_eq!(answer.error(), (429, "rate_limit_exceeded"));
        assert_eq!(answer.rate_limits(), None);
        // The clock of the fakes is at 7.042 seconds past a minute.
        assert_eq!(answer.header("retry-after"), Some("53"));
        let message = "Too many refused requests came from this address; every request from it is refused for 53 more \
                       seconds.";
        assert_eq!(answer.body["error"]["message"], message, "the message does not mention the key");
    }
    api.memory.clock.advance(std::time::Duration::from_secs(52));
    let message = api.call("GET", "/v1/account").await.body["error"]["message"].to_string();
    assert!(message.contains("for 1 more second."), "{message}");
    api.memory.clock.advance(std::time::Duration::from_secs(1));
    assert_eq!(api.call("GET", "/v1/account").await.status, 200);
}

/// The domain's tests cover which proxies are trusted. This test covers the address that is throttled.
#[actix_web::test]
async fn d18_the_throttle_counts_the_client_behind_a_trusted_proxy() {
    let memory = InMemory {
        trusted_proxies: signpost_domain::TrustedProxies::new(vec!["203.0.113.0/24".parse().unwrap()]),
        ..InMemory::default()
    };
    let api = Api::on(memory, |_| {}).await;
    let from = |client: &'static str| bare("GET", "/v1/account").insert_header(("x-forwarded-for", client));
    for _ in 0..31 {
        api.send(from("6.6.6.6, 198.51.100.1")).await;
    }
    assert_eq!(api.send(from("7.7.7.7, 198.51.100.1")).await.status, 429);
    assert_eq!(api.send(from("198.51.100.2")).await.status, 401);
    // An unreadable header counts as the address of the proxy.
    let unreadable = bare("GET", "/v1/account").insert_header((
        "x-forwarded-for",
        actix_web::http::header::HeaderValue::from_bytes(b"198.51.100.1, \xff").unwrap(),
    ));
    assert_eq!(api.send(unreadable).await.status, 401);
}

#[actix_web::test]
async fn d7_an_unknown_path_costs_one_request_and_earlier_refusals_none() {
    let api = Api::start().await;
    let left = |answer: &crate::harness::Answer| answer.rate_limits().unwrap()[1];
    assert_eq!(left(&api.call("GET", "/v1").await), 119);
    assert_eq!(left(&api.call("GET", "/v1/nothing").await), 118);
    assert_eq!(left(&api.call("PUT", "/v1/account").await), 117);
    assert_eq!(left(&api.call_with("POST", "/v1/groups", json!({})).await), 116);
    api.send(request("GET", "/v1/account", "nobody")).await;
    api.call("GET", "/nothing").await;
    api.call("GET", "/health/live").await;
    assert_eq!(left(&api.call("GET", "/v1/account").await), 115);
}

#[actix_web::test]
async fn d7_other_paths_need_no_key_and_cost_nothing() {
    let api = Api::start().await;
    for path in ["/", "/nothing", "/v10/account", "/v1x", "/V1/account", "//v1/account", "/v1%2Faccount"] {
        for answer in [api.send(bare("GET", path)).await, api.call("GET", path).await] {
            assert_eq!(answer.error(), (404, "invalid_request"), "{path}");
            assert_eq!(answer.rate_limits(), None, "{path}");
        }
    }
}

/// No spelling of a path reaches an endpoint without admission.
#[actix_web::test]
async fn d7_percent_encoded_paths_are_admitted_as_they_are_routed() {
    let api = Api::start().await;
    for path in ["/%76%31/account", "/v1/%61ccount", "/%761/account", "/v1%2f", "/v1/%2e%2e/health/live"] {
        let answer = api.send(bare("GET", path)).await;
        let expected = if path == "/v1%2f" { 404 } else { 401 };
        assert_eq!(answer.status, expected, "{path}");
    }
    assert_eq!(api.call("GET", "/%76%31/%61ccount").await.status, 200);
}

#[actix_web::test]
async fn d14_a_key_in_the_query_is_ignored() {
    let api = Api::start().await;
    let uri = format!("/v1/account?api_key={}", api.key);
    assert_eq!(api.send(bare("GET", &uri)).await.error(), (401, "invalid_api_key"));
    assert_eq!(api.call("GET", &uri).await.violations(), [("api_key", "unknown_field")]);
}
