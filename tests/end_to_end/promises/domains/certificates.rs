//! The TLS proxy in front asks over a socket, without a key, whether a hostname may have a certificate (D39, D44).

use crate::harness::domains::DomainScene;
use crate::harness::{Program, exchange, parse_response, rate_limits};

const HOST: &str = "go.shop.test";

/// Written out as Caddy asks.
fn ask(node: &Program, hostname: &str) -> u16 {
    let request =
        format!("GET /tls-allowed?domain={hostname} HTTP/1.1\r\nHost: signpost\r\nUser-Agent: Caddy\r\n\r\n");
    parse_response(&exchange(&node.api, request.as_bytes())).0
}

/// The question needs no key, and neither quota nor throttle applies (D7, D17, D18).
#[test]
fn d7_certificate_questions_need_no_key_and_cost_no_quota() {
    let scene = DomainScene::start_with(|node| node.setting("throttle-per-minute", "1"));
    let [account, _] = scene.clients();
    scene.activate(&account, HOST);
    for _ in 0..40 {
        assert_eq!(ask(scene.first(), "other.test"), 404);
        assert_eq!(ask(scene.first(), HOST), 200);
    }
    let before = rate_limits(&account.get("/v1/account")).unwrap();
    let answer = account.get(&format!("/tls-allowed?domain={HOST}")).expect_status(200);
    assert_eq!(rate_limits(&answer), None);
    let after = rate_limits(&account.get("/v1/account")).unwrap();
    // Both windows may have begun anew meanwhile, which leaves more.
    assert!(after[3] + 1 >= before[3], "{before:?} {after:?}");
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
    assert_eq!(ask(&node, HOST), 404);
    assert!(scene.may_have_certificate(HOST), "where it is not a name of the installation");
    assert!(!scene.first().log().contains(warning));
}
