//! `GET /tls-allowed`: only proven custom domains may have certificates (contract D39, D7).

use serde_json::json;

use crate::harness::{Answer, Api, bare};

const HOST: &str = "links.shop.com";

async fn ask(api: &Api, hostname: &str) -> Answer {
    let answer = api.send(bare("GET", &format!("/tls-allowed?domain={hostname}"))).await;
    assert_eq!(answer.rate_limits(), None, "contract D7: no account is known");
    answer
}

async fn is_allowed(api: &Api, hostname: &str) -> bool {
    let answer = ask(api, hostname).await;
    if answer.status == 200 {
        assert_eq!(answer.body, json!({"allowed": true}));
        return true;
    }
    assert_eq!(answer.error(), (404, "domain_not_found"), "{hostname}");
    false
}

#[actix_web::test]
async fn d39_a_domain_may_have_a_certificate_while_it_is_proven() {
    let api = Api::start().await;
    assert!(!is_allowed(&api, HOST).await, "no account has connected it");
    let domain = api.domain(HOST).await;
    assert!(!is_allowed(&api, HOST).await, "pending");
    api.follow_instructions(&domain);
    assert!(!is_allowed(&api, HOST).await, "pending until the next check");
    let path = format!("/v1/domains/{}", domain["id"].as_str().unwrap());
    api.call("POST", &format!("{path}/verify")).await.id(200);
    assert!(is_allowed(&api, HOST).await);
    api.call("DELETE", &path).await.id(200);
    assert!(!is_allowed(&api, HOST).await, "removed");
}

#[actix_web::test]
async fn d9_case_and_one_final_dot_of_the_name_are_ignored() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    for same in ["Links.Shop.Com.", "links%2Eshop.com"] {
        assert!(is_allowed(&api, same).await, "{same}");
    }
    // The operator provides certificates for the installation's own names.
    for other in ["a.links.shop.com", "go.example.com", "edge.example.net", "", "%00", &"a".repeat(5_000)] {
        assert!(!is_allowed(&api, other).await, "{other}");
    }
}

/// A wrong refusal would let a certificate expire unnoticed.
#[actix_web::test]
async fn an_unreachable_store_is_a_500_and_not_a_refusal() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    api.memory.store.faults().set_unavailable(true);
    assert_eq!(ask(&api, HOST).await.error(), (500, "internal_error"));
}
