//! Which names a handshake may ask for (D184, D198).

use serde_json::json;
use signpost_test_servers::dns::Record;

use crate::harness::domains::{EDGE, connect, path_of, send_verification};
use crate::harness::https::{API, HttpsScene, OWN_NAMES, SYSTEM, is_refused};

const HOST: &str = "go.shop.test";
const UNPROVEN: &str = "unproven.shop.test";

/// How many handshakes the nodes get together. None of them costs an order.
const HANDSHAKES: usize = 10_000;

/// Neither a handshake nor a request for a challenge makes the node order a certificate, whatever the name.
#[test]
fn d184_unknown_and_unproven_names_are_refused_and_never_ordered() {
    let Some(scene) = HttpsScene::start() else { return };
    let [account, _] = scene.domains.clients();
    scene.await_own_names();
    // It leads here, but nobody has proven that it is theirs.
    let domain = connect(&account, UNPROVEN);
    scene.domains.dns.set(UNPROVEN, [Record::alias(EDGE)]);
    let checked = send_verification(&account, &domain).expect_status(200).body;
    assert_eq!((&checked["status"], &checked["certificate"]["status"]), (&json!("pending"), &json!("none")));
    // Each asks for four names.
    let rounds = HANDSHAKES / 4 / scene.nodes().len();
    for node in scene.nodes() {
        let client = scene.client(node);
        let refused = || -> usize {
            node.metric(r#"signpost_tls_handshakes_total{listener="tls",outcome="unknown_name"}"#)
                .parse()
                .unwrap()
        };
        let before = refused();
        for round in 0..rounds {
            let unknown = format!("x{round}.shop.test");
            for name in [UNPROVEN, unknown.as_str(), "sign.test", "x.go.sign.test"] {
                assert!(is_refused(&client, name), "{name}");
                if round % 250 == 0 {
                    let path = "/.well-known/acme-challenge/token";
                    let visit = node.visitor().request("GET", path, &[("Host", name)]);
                    assert_eq!(visit.status, 404, "{name}");
                }
            }
        }
        assert_eq!(client.get(SYSTEM, "/").unwrap().status, 200, "others are served");
        assert_eq!(refused() - before, rounds * 4);
    }
    // The work on certificates goes on: the next order is for the next proven name.
    scene.activate(&account, HOST);
    assert_eq!(scene.pebble.orders(), OWN_NAMES + 1);
}

/// The certificate goes with the domain. A client that has a ticket of an earlier connection gets no further.
#[test]
fn d198_a_removed_domain_is_refused_also_with_a_ticket() {
    let Some(scene) = HttpsScene::start() else { return };
    let [account, _] = scene.domains.clients();
    let domain = scene.activate(&account, HOST);
    let clients: Vec<_> = scene.nodes().iter().map(|node| scene.client(node)).collect();
    for client in &clients {
        // The ticket comes with the first answer.
        let first = client.connect(HOST).unwrap();
        let certificate = first.certificate();
        assert!(!first.is_resumed());
        assert_eq!(first.get(HOST, "/").status, 404);
        let second = client.connect(HOST).unwrap();
        assert!(second.is_resumed());
        assert_eq!(second.certificate(), certificate);
    }
    account.delete(&path_of(&domain)).expect_status(200);
    scene.await_refusal(HOST);
    for client in &clients {
        assert!(is_refused(client, HOST), "with a ticket");
    }
    for node in scene.nodes() {
        let visit = node.visitor().request("GET", "/x", &[("Host", HOST)]);
        assert_eq!(visit.status, 404, "it is not redirected to HTTPS any more");
        assert!(!node.run(&["certificate", "show", HOST]).status.success());
    }
    // Other names are served on.
    scene.await_https(API, "/");
}
