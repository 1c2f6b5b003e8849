//! Answers to an account with too many requests in flight (R46).

use std::net::IpAddr;

use signpost_app::Caller;
use signpost_app::admission::{AccountBounds, admit};
use signpost_domain::ApiKeySecret;
use signpost_memory::InMemory;

use crate::harness::{Api, request};

async fn api(requests: u32, searches: u32) -> Api {
    let account_bounds = AccountBounds { requests, searches };
    Api::on(InMemory { account_bounds, ..InMemory::default() }, |_| {}).await
}

/// A request of the account that is in flight until this is dropped.
async fn running(api: &Api) -> Caller {
    let key = ApiKeySecret::parse(&api.key).unwrap();
    admit(&api.app, Some(&key), IpAddr::from([203, 0, 113, 9]), None).await.unwrap().caller
}

#[actix_web::test]
async fn r46_a_request_beyond_the_bound_is_a_429_and_costs_nothing() {
    let api = api(2, 1).await;
    let held = [running(&api).await, running(&api).await];
    for _ in 0..3 {
        let refused = api.call("GET", "/v1/account").await;
        assert_eq!(refused.error(), (429, "rate_limit_exceeded"));
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert_eq!(refused.rate_limits(), Some([120, 118, 10_000, 9_998]));
    }
    assert_eq!(api.call("GET", "/v1/nothing").await.status, 429, "the bound applies before routing");
    let (_, other) = api.account("zoe@example.com", "agency").await;
    assert_eq!(api.send(request("GET", "/v1/account", &other)).await.status, 200);
    drop(held);
    for counted in 3..20 {
        let answer = api.call("GET", "/v1/account").await;
        assert_eq!((answer.status, answer.rate_limits().unwrap()[1]), (200, 120 - counted));
    }
}

#[actix_web::test]
async fn r46_a_search_beyond_the_bound_is_a_429() {
    let api = api(0, 1).await;
    let caller = running(&api).await;
    let search = caller.search().unwrap();
    for path in ["/v1/redirects?q=x", "/v1/landings?q=x", "/v1/redirects?is_active=true&group_id=none"] {
        let refused = api.call("GET", path).await;
        assert_eq!(refused.error(), (429, "rate_limit_exceeded"), "{path}");
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert!(refused.rate_limits().is_some());
    }
    for path in ["/v1/redirects", "/v1/redirects?is_active=true", "/v1/groups", "/v1/account"] {
        assert_eq!(api.call("GET", path).await.status, 200, "{path}");
    }
    assert_eq!(api.call("GET", "/v1/redirects?q=x&z=1").await.status, 400);
    drop(search);
    for _ in 0..3 {
        assert_eq!(api.call("GET", "/v1/redirects?q=x").await.status, 200);
    }
}
