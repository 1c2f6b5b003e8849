//! The TLS proxy in front asks over a socket, without a key, whether a hostname may have a certificate (D39, D44).

use serde_json::json;

use crate::harness::domains::{DomainScene, connect, path_of, verify};
use crate::harness::{Program, exchange, parse_response, rate_limits};

const HOST: &str = "go.shop.test";

/// Written out as Caddy asks.
fn ask(node: &Program, method: &str, query: &str) -> (u16, String, String) {
    let request =
        format!("{method} /tls-allowed{query} HTTP/1.1\r\nHost: signpost\r\nUser-Agent: Caddy\r\n\r\n");
    parse_response(&exchange(&node.api, request.as_bytes()))
}

#[test]
fn only_a_proven_hostname_may_have_a_certificate() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    let asked = |query: &str| ask(scene.last(), "GET", query);
    let name = format!("?domain={HOST}");
    assert_eq!(asked(&name).0, 404, "nobody has it");
    let domain = connect(&account, HOST);
    assert_eq!(asked(&name).0, 404, "pending");
    scene.publish(&[&domain]);
    verify(&account, &domain);
    let (status, head, body) = asked(&name);
    assert_eq!(status, 200);
    assert!(head.to_ascii_lowercase().contains("cache-control: no-store"), "{head}");
    assert!(body.len() < 100, "{body}");
    for spelt in ["GO.Shop.TEST", "go.shop.test.", "go%2Eshop%2Etest"] {
        assert_eq!(asked(&format!("?domain={spelt}")).0, 200, "{spelt}");
    }
    account.delete(&path_of(&domain)).expect_status(200);
    assert_eq!(asked(&name).0, 404, "removed");
}

/// The question needs no key, and neither quota nor throttle applies (D7, D17, D18).
#[test]
fn d7_certificate_questions_need_no_key_and_cost_no_quota() {
    let scene = DomainScene::start_with(|node| node.setting("throttle-per-minute", "1"));
    let [account, _] = scene.clients();
    scene.activate(&account, HOST);
    for _ in 0..40 {
        assert_eq!(ask(scene.first(), "GET", "?domain=other.test").0, 404);
        assert_eq!(ask(scene.first(), "GET", &format!("?domain={HOST}")).0, 200);
    }
    let before = rate_limits(&account.get("/v1/account")).unwrap();
    let answer = account.get(&format!("/tls-allowed?domain={HOST}")).expect_status(200);
    assert_eq!(rate_limits(&answer), None);
    let after = rate_limits(&account.get("/v1/account")).unwrap();
    // Both windows may have begun anew meanwhile, which leaves more.
    assert!(after[3] + 1 >= before[3], "{before:?} {after:?}");
    let allowed = format!("/tls-allowed?domain={HOST}");
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let body = json!({});
        let refused = account.send(method, &allowed, Some(&body)).expect_error(405, "invalid_request");
        assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    }
}

/// An account may have connected a name before the operator made it one of the installation's own (D37): nobody gets a
/// certificate for it as a custom domain, and the operator is told.
#[test]
fn a_name_of_the_installation_that_an_account_has_gets_no_certificate_and_a_warning() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    scene.activate(&account, HOST);
    let warning = "a name of this installation is the custom domain of an account";
    let node = scene.first().beside(&["--system-aliases", HOST]);
    node.await_log(warning);
    assert_eq!(ask(&node, "GET", &format!("?domain={HOST}")).0, 404);
    assert!(scene.may_have_certificate(HOST), "where it is not a name of the installation");
    assert!(!scene.first().log().contains(warning));
}
