//! R8: squatting has an end (D41). Proof beats a claim, and a claim beats nothing that was proven.

use serde_json::{Value, json};
use signpost_test_servers::dns::{Behaviour, Record};

use crate::harness::domains::{
    DomainScene, connect, listed, path_of, record_in_refusal, shown, steady, verify, verify_path,
};

const HOST: &str = "go.shop.test";

/// The owner is told which record to add, adds it, and has the hostname; the squatter's claim has failed.
#[test]
fn r8_the_owner_of_a_claimed_hostname_gets_it_by_the_record_of_the_refusal() {
    let scene = DomainScene::start();
    let [squatter, _] = scene.clients();
    let [owner, owner_elsewhere] = scene.clients();
    let claim = connect(&squatter, HOST);
    let body = json!({"hostname": HOST});
    let refusal = owner.post("/v1/domains", &body).expect_error(409, "hostname_already_taken");
    let (name, value) = record_in_refusal(&refusal);
    assert_eq!(owner.get("/v1/account").body["usage"]["domains"], 0);
    // The squatter's own record proves nothing for anybody else.
    scene.publish(&[&claim]);
    scene.dns.remove(HOST);
    owner_elsewhere.post("/v1/domains", &body).expect_error(409, "hostname_already_taken");
    scene.withdraw(&claim);
    scene.dns.set(&name, [Record::text("v=spf1 -all"), Record::text(&value)]);
    let domain = owner_elsewhere.post("/v1/domains", &body).expect_status(201).body;
    assert_eq!(domain["status"], "pending");
    let records = domain["dns_instructions"].as_array().unwrap();
    assert!(records.iter().any(|record| record["name"] == *name && record["value"] == *value));
    let failed = shown(&squatter, &claim);
    assert_eq!((&failed["status"], &failed["expires_at"]), (&json!("failed"), &Value::Null));
    // It stays in the list, and is outdone for good.
    assert_eq!(listed(&squatter), std::slice::from_ref(&failed));
    squatter.post(&verify_path(&claim), &json!({})).expect_error(409, "hostname_already_taken");
    squatter.post("/v1/domains", &body).expect_error(409, "hostname_already_taken");
    scene.publish(&[&domain]);
    assert_eq!(verify(&owner, &domain)["status"], "active");
    assert_eq!(shown(&squatter, &claim), failed);
}

/// What has been proven is never taken, whatever records somebody publishes.
#[test]
fn d41_a_proven_domain_is_never_displaced() {
    let scene = DomainScene::start();
    let [owner, _] = scene.clients();
    let [other, _] = scene.clients();
    let domain = scene.activate(&owner, HOST);
    let refusal = other.post("/v1/domains", &json!({"hostname": HOST}));
    let (name, value) = record_in_refusal(&refusal.expect_error(409, "hostname_already_taken"));
    scene.dns.set(&name, [Record::text(&value)]);
    other.post("/v1/domains", &json!({"hostname": HOST})).expect_error(409, "hostname_already_taken");
    assert_eq!(shown(&owner, &domain), domain);
    assert!(scene.may_have_certificate(HOST));
}

/// Whether the record is there could not be asked: nothing changes for either (D41).
#[test]
fn d41_a_claim_is_not_displaced_by_what_nobody_could_ask() {
    let scene = DomainScene::start();
    let [squatter, _] = scene.clients();
    let [owner, _] = scene.clients();
    let claim = connect(&squatter, HOST);
    let body = json!({"hostname": HOST});
    let refusal = owner.post("/v1/domains", &body).expect_error(409, "hostname_already_taken");
    let (name, value) = record_in_refusal(&refusal);
    scene.dns.set(&name, [Record::text(&value)]);
    for failure in [Behaviour::ServFail, Behaviour::Refused, Behaviour::TruncateAll, Behaviour::Referral] {
        scene.dns.behave_for(&name, failure);
        owner.post("/v1/domains", &body).expect_error(503, "domain_provider_unavailable");
        assert!(owner.walk("/v1/domains", "").is_empty());
        assert_eq!(shown(&squatter, &claim), claim);
    }
    scene.dns.behave_for(&name, Behaviour::Answer);
    owner.post("/v1/domains", &body).expect_status(201);
    assert_eq!(squatter.get(&path_of(&claim)).body["status"], "failed");
}

/// A claim that has failed blocks nobody, and its owner can make it anew once the hostname is free (D39, D40).
#[test]
fn d40_a_claim_that_failed_is_made_anew_when_the_hostname_is_free() {
    let scene = DomainScene::start();
    let [one, one_elsewhere] = scene.clients();
    let [other, _] = scene.clients();
    let body = json!({"hostname": HOST});
    let claim = connect(&one, HOST);
    let refusal = other.post("/v1/domains", &body).expect_error(409, "hostname_already_taken");
    let (name, value) = record_in_refusal(&refusal);
    scene.dns.set(&name, [Record::text(&value)]);
    let outdone_by = other.post("/v1/domains", &body).expect_status(201).body;
    other.delete(&path_of(&outdone_by)).expect_status(200);
    scene.dns.remove(&name);
    // Looking at it is nothing that brings it back.
    assert_eq!(one.get(&path_of(&claim)).body["status"], "failed");
    // DNS says nothing: it stays failed (D42).
    scene.dns.behave(Behaviour::ServFail);
    one.post(&verify_path(&claim), &json!({})).expect_error(503, "domain_provider_unavailable");
    assert_eq!(one.get(&path_of(&claim)).body["status"], "failed");
    scene.dns.behave(Behaviour::Answer);
    let again = verify(&one_elsewhere, &claim);
    assert_eq!((&again["id"], &again["status"]), (&claim["id"], &json!("pending")));
    assert!(again["expires_at"].as_str() > claim["expires_at"].as_str(), "a new deadline");
    assert_eq!(again["dns_instructions"], claim["dns_instructions"]);
    assert_eq!(steady(&one.post("/v1/domains", &body).expect_status(200).body), again);
    other.post("/v1/domains", &body).expect_error(409, "hostname_already_taken");
}
