//! R7: no service without proof (D38 to D44). A hostname resolves links and may have a certificate only while the account
//! that holds it has proven it. R8: squatting has an end (D41).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use signpost_test_servers::dns::Record;

use crate::harness::domains::{
    DomainScene, connect, listed, path_of, record_in_refusal, shown, verify, verify_path, visit,
};
use crate::harness::{Account, redirect_body};

const HOST: &str = "go.shop.test";

fn link(account: &Account, slug: Value, target: &str) -> Value {
    account.create_redirect(&redirect_body(json!({"domain": HOST, "slug": slug, "target_url": target})))
}

/// Nothing is served at the hostname, neither at slugs that links have or had there nor at its root.
#[track_caller]
fn assert_dark(scene: &DomainScene) {
    for path in ["/sale", "/"] {
        scene.assert_leads(scene.first(), HOST, path, None);
    }
    assert!(!scene.may_have_certificate(HOST));
}

/// The hostname passes from one account to another while all records of the first still stand.
#[test]
fn r7_a_hostname_that_passes_on_serves_nothing_until_the_new_owner_has_proven_it() {
    let scene = DomainScene::start();
    let [before, _] = scene.clients();
    let [after, after_elsewhere] = scene.clients();
    let first = scene.activate(&before, HOST);
    let links = [
        link(&before, json!("sale"), "https://old.example/"),
        link(&before, Value::Null, "https://old.example/"),
    ];
    scene.assert_leads(scene.first(), HOST, "/sale", Some("https://old.example/"));
    after.post("/v1/domains", &json!({"hostname": HOST})).expect_error(409, "hostname_already_taken");
    after
        .post("/v1/redirects", &redirect_body(json!({"domain": HOST, "slug": "mine"})))
        .expect_error(404, "domain_not_found");

    before.delete(&path_of(&first)).expect_status(200);
    assert_dark(&scene);
    // The new owner's claim proves nothing, although the hostname points here and still has the former owner's record.
    let second = connect(&after, HOST);
    for _ in 0..3 {
        assert_eq!(verify(&after_elsewhere, &second), second);
        after
            .post("/v1/redirects", &redirect_body(json!({"domain": HOST, "slug": "mine"})))
            .expect_error(409, "domain_not_active");
        assert_dark(&scene);
    }
    // The former owner's record is a proof, and proof beats a claim (D41): the hostname is theirs again, and no more. While
    // it points elsewhere, no background check puts it into service.
    scene.dns.remove(HOST);
    let again = connect(&before, HOST);
    assert_eq!(again["status"], "pending");
    assert_eq!(after.get(&path_of(&second)).body["status"], "failed");
    assert_dark(&scene);
    before.delete(&path_of(&again)).expect_status(200);
    let third = after.post("/v1/domains", &json!({"hostname": HOST})).expect_status(200).body;
    assert_eq!((&third["id"], &third["status"]), (&second["id"], &json!("pending")));
    scene.publish(&[&third]);
    assert_eq!(verify(&after_elsewhere, &third)["status"], "active");
    // It is active, and shows only links of the new owner.
    for path in ["/sale", "/"] {
        scene.assert_leads(scene.last(), HOST, path, None);
    }
    assert!(scene.may_have_certificate(HOST));
    link(&after, json!("sale"), "https://new.example/");
    scene.assert_leads(scene.first(), HOST, "/sale", Some("https://new.example/"));
    for lost in links {
        let path = path_of(&lost);
        assert_eq!(before.get(&path).body["url"], Value::Null);
        before.patch(&path, &json!({"domain": HOST})).expect_error(404, "domain_not_found");
        before.patch(&path, &json!({"name": "edited", "is_active": true})).expect_status(200);
        assert_eq!(before.get(&path).body["domain"], Value::Null);
    }
    scene.assert_leads(scene.first(), HOST, "/", None);
    scene.assert_leads(scene.first(), HOST, "/sale", Some("https://new.example/"));
}

/// Contract D54: visitors get the same page for every reason, so the page tells nothing about a hostname.
#[test]
fn d54_visitors_get_the_same_page_for_every_reason() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    let [suspended, _] = scene.clients();
    scene.activate(&account, HOST);
    let switched_off = link(&account, json!("off"), "https://example.com/");
    account.patch(&path_of(&switched_off), &json!({"is_active": false})).expect_status(200);
    connect(&account, "pending.shop.test");
    let removed = scene.activate(&account, "removed.shop.test");
    account.delete(&path_of(&removed)).expect_status(200);
    scene.activate(&suspended, "suspended.shop.test");
    suspended.create_redirect(&redirect_body(json!({"domain": "suspended.shop.test", "slug": "x"})));
    scene.first().command(&["account", "suspend", suspended.id(), "--json"]);
    let seen = |hostname: &str, path: &str| {
        let visit = visit(scene.last(), hostname, path);
        let headers = visit.headers.iter().filter(|(name, _)| name.as_str() != "date");
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        (visit.status, headers.collect::<BTreeSet<_>>(), visit.body)
    };
    let unknown = seen("nobodys.shop.test", "/x");
    assert_eq!(unknown.0, 404);
    for (hostname, path) in [
        (HOST, "/unknown"),
        (HOST, "/off"),
        (HOST, "/"),
        (HOST, "/not/a/slug"),
        ("pending.shop.test", "/x"),
        ("pending.shop.test", "/"),
        ("removed.shop.test", "/x"),
        ("suspended.shop.test", "/x"),
        ("edge.example.net", "/"),
        ("192.0.2.10", "/"),
        ("xn--bcher-kva.test", "/x"),
        ("localhost", "/x"),
    ] {
        assert_eq!(seen(hostname, path), unknown, "{hostname}{path}");
    }
}

/// R8, contract D41: the refusal tells the owner which record to add. The owner adds it and has the hostname, and the
/// squatter's claim has failed.
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
    // The squatter's own record proves nothing for other accounts. The hostname never points here meanwhile, so that no
    // background check puts it into service.
    let own = &claim["dns_instructions"][1];
    let [own_name, own_value] = ["name", "value"].map(|field| own[field].as_str().unwrap());
    scene.dns.set(own_name, [Record::text(own_value)]);
    owner_elsewhere.post("/v1/domains", &body).expect_error(409, "hostname_already_taken");
    scene.dns.remove(own_name);
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
