//! R5: connecting and verifying with an `Idempotency-Key` is carried out once (D12).

use serde_json::json;
use signpost_test_servers::dns::Behaviour;

use crate::harness::domains::{DomainScene, connect, path_of, steady, verify_path};
use crate::harness::{Account, concurrently};

const HOST: &str = "go.shop.test";

/// Many at once: one connects, and all have its answer, which says that it was created.
#[test]
fn r5_a_connect_that_is_sent_many_times_is_carried_out_once() {
    let scene = DomainScene::start();
    let clients = scene.clients();
    let body = json!({"hostname": HOST});
    let answers = concurrently(8, |number| clients[number % 2].post_once("connect", "/v1/domains", &body));
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (201, &answers[0].body));
        assert_eq!(answer.header("location"), Some(path_of(&answer.body).as_str()));
    }
    assert_eq!(answers.iter().filter(|answer| !answer.is_replayed()).count(), 1);
    assert_eq!(clients[0].walk("/v1/domains", "").len(), 1);
    // What has become of the domain since then is not in an answer that was given before.
    clients[1].delete(&path_of(&answers[0].body)).expect_status(200);
    let late = clients[0].post_once("connect", "/v1/domains", &body).expect_status(201);
    assert!(late.is_replayed() && late.body == answers[0].body);
    assert!(clients[0].walk("/v1/domains", "").is_empty());
}

/// A verification is remembered with what it found. One that could not be made is not, and is made when it is sent again.
#[test]
fn d12_a_verification_that_could_not_be_made_is_made_by_the_same_key_later() {
    let scene = DomainScene::start();
    let [account, elsewhere] = scene.clients();
    let domain = connect(&account, HOST);
    let verify_once = |client: &Account, key: &str| client.post_once(key, &verify_path(&domain), &json!({}));
    scene.dns.behave(Behaviour::ServFail);
    verify_once(&account, "second").expect_error(503, "domain_provider_unavailable");
    scene.dns.behave(Behaviour::Answer);
    let too_early = verify_once(&account, "first").expect_status(200);
    assert_eq!(steady(&too_early.body), domain);
    scene.publish(&[&domain]);
    let again = verify_once(&elsewhere, "first").expect_status(200);
    assert!(again.is_replayed() && again.body == too_early.body, "as it was found to be");
    let made = verify_once(&elsewhere, "second").expect_status(200);
    assert!(!made.is_replayed() && made.body["status"] == "active", "{made:?}");
    scene.dns.behave(Behaviour::ServFail);
    assert!(verify_once(&account, "second").expect_status(200).is_replayed());
}

/// A refusal is a definite answer, and stays one until it is forgotten.
#[test]
fn d12_a_hostname_that_was_taken_is_taken_for_the_same_key() {
    let scene = DomainScene::start();
    let [owner, _] = scene.clients();
    let [other, elsewhere] = scene.clients();
    let domain = connect(&owner, HOST);
    let body = json!({"hostname": HOST});
    let refused = other.post_once("mine", "/v1/domains", &body);
    let refused = refused.expect_error(409, "hostname_already_taken");
    owner.delete(&path_of(&domain)).expect_status(200);
    let again = elsewhere.post_once("mine", "/v1/domains", &body);
    assert!(again.is_replayed());
    assert_eq!(again.without_request_id(), refused.without_request_id());
    other.post("/v1/domains", &body).expect_status(201);
}
