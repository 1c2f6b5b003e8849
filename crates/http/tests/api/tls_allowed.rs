//! `GET /tls-allowed`: certificates are for custom domains that are proven (contract D39, D7).

use std::time::Duration;

use serde_json::json;
use signpost_domain::{CheckPlan, CustomDomain, CustomDomainStatus, Hostname};

use crate::harness::{Answer, Api, bare, commit};

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
async fn d39_a_certificate_is_for_a_domain_while_it_is_proven() {
    let api = Api::start().await;
    assert!(!is_allowed(&api, HOST).await, "nobody has it");
    let domain = api.domain(HOST).await;
    assert!(!is_allowed(&api, HOST).await, "pending");
    api.follow_instructions(&domain);
    assert!(!is_allowed(&api, HOST).await, "pending, until somebody has looked");
    let path = format!("/v1/domains/{}", domain["id"].as_str().unwrap());
    api.call("POST", &format!("{path}/verify")).await.id(200);
    assert!(is_allowed(&api, HOST).await);
    api.call("DELETE", &path).await.id(200);
    assert!(!is_allowed(&api, HOST).await, "removed");
}

/// Contract D39: a hostname that waits for its certificate must be allowed one, until its deadline.
#[actix_web::test]
async fn d39_a_domain_that_waits_for_its_certificate_may_have_it_until_the_deadline() {
    let api = Api::start().await;
    let now = api.app.clock.now();
    let expires_at = now.plus(Duration::from_hours(1));
    let hostname = Hostname::parse(HOST).unwrap();
    let domain = CustomDomain {
        status: CustomDomainStatus::SslPending { expires_at },
        ..CustomDomain::connect(api.app.ids.next(), api.account, hostname, now)
    };
    let mut work = api.app.store.begin().await.unwrap();
    let unchecked = CheckPlan { next_check_at: None, checks_made: 0 };
    work.insert_custom_domain(&domain, unchecked, u64::MAX).await.unwrap();
    commit(work).await;
    let shown = api.call("GET", &format!("/v1/domains/{}", domain.id)).await.body;
    assert_eq!((&shown["status"], &shown["expires_at"]), (&json!("ssl_pending"), &json!(null)));
    api.memory.clock.advance(Duration::from_hours(1) - Duration::from_millis(1));
    assert!(is_allowed(&api, HOST).await);
    api.memory.clock.advance(Duration::from_millis(1));
    assert!(!is_allowed(&api, HOST).await);
}

#[actix_web::test]
async fn d9_the_name_is_compared_without_regard_to_case_and_one_final_dot() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    for same in ["LINKS.shop.COM", "links.shop.com.", "Links.Shop.Com.", "links%2Eshop.com"] {
        assert!(is_allowed(&api, same).await, "{same}");
    }
    for other in [
        "shop.com",
        "a.links.shop.com",
        "links.shop.com..",
        "links.shop.com:443",
        "https://links.shop.com",
        "links.shop.co",
        "xlinks.shop.com",
        "*.shop.com",
        // The installation's own names have certificates by other means.
        "go.example.com",
        "edge.example.net",
        "localhost",
        "192.0.2.1",
        "[2001:db8::1]",
        "",
        "%00",
        "b%C3%BCcher.shop.com",
        &"a".repeat(5_000),
    ] {
        assert!(!is_allowed(&api, other).await, "{other}");
    }
}

#[actix_web::test]
async fn d8_a_question_that_is_none_is_told_what_is_wrong_with_it() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    for (query, violations) in [
        ("", vec![("domain", "required")]),
        ("?", vec![("domain", "required")]),
        ("?hostname=links.shop.com", vec![("domain", "required"), ("hostname", "unknown_field")]),
        ("?domain=links.shop.com&domain=links.shop.com", vec![("domain", "invalid_value")]),
        ("?domain=%zz", vec![("domain", "invalid_format")]),
        ("?domain=links.shop.com&x=1", vec![("x", "unknown_field")]),
    ] {
        let answer = api.send(bare("GET", &format!("/tls-allowed{query}"))).await;
        assert_eq!(answer.violations(), violations, "{query}");
    }
    let post = api.send(bare("POST", "/tls-allowed?domain=links.shop.com")).await;
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(api.send(bare("HEAD", "/tls-allowed?domain=links.shop.com")).await.status, 200);
}

/// What is not known is not allowed: a "no" that is none would let a certificate lapse unnoticed.
#[actix_web::test]
async fn a_store_that_is_away_is_a_500_and_not_a_no() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    api.memory.store.faults().set_unavailable(true);
    assert_eq!(ask(&api, HOST).await.error(), (500, "internal_error"));
}
