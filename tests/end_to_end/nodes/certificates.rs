//! Orders of certificates, which nodes share (D185, D186, D188).

use std::collections::BTreeSet;

use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::redis::{self, RedisServer};

use crate::harness::https::{HttpsScene, OWN_NAMES, await_found};
use crate::harness::{Program, Store, concurrently};

/// How many domains are proven at the same time.
const DOMAINS: usize = 12;

/// How often to prove that many domains until the node that answers no challenge has obtained a certificate. A node works on
/// eight at a time, so one that is fast may take most of them.
const ROUNDS: usize = 5;

/// Two nodes and an authority; `None`, with a notice, if the servers are not installed.
fn scene() -> Option<HttpsScene> {
    let servers = postgres::try_shared()
        .map_err(Absence::clone)
        .and_then(|_| RedisServer::try_start(&redis::Setup::default()));
    if let Err(absence) = servers {
        absence.tell("certificates on several nodes");
        return None;
    }
    HttpsScene::start_on(Store::Servers, |node| node)
}

/// How many certificates the node has obtained.
fn obtained(node: &Program) -> usize {
    node.metric(r#"signpost_certificate_attempts_total{outcome="issued"}"#).parse().unwrap()
}

/// Each domain costs one order, whichever node makes it. Every node serves the certificate, and any node answers the challenge.
#[test]
fn d186_nodes_share_orders_and_each_serves_every_certificate() {
    let Some(scene) = scene() else { return };
    let clients = scene.domains.clients();
    scene.await_own_names();
    let [orderer, answerer] = scene.nodes() else { panic!("there are two nodes") };
    // From now on only one node is asked for challenges, whichever node has ordered.
    scene.balance_to(&[answerer]);
    // A node counts a certificate after it has stored it.
    await_found("the counts", || {
        (scene.nodes().iter().map(obtained).sum::<usize>() == OWN_NAMES).then_some(())
    });
    let before = obtained(orderer);
    for round in 1.. {
        let names: Vec<_> = (0..DOMAINS).map(|number| format!("go.shop{number}-{round}.test")).collect();
        concurrently(DOMAINS, |number| scene.prove(&clients[number % 2], &names[number]));
        let certificates = names.iter().map(|name| {
            let on_each = scene.nodes().iter().map(|node| {
                let client = scene.client(node);
                await_found(name, || client.connect(name).ok()).certificate()
            });
            let on_each: BTreeSet<_> = on_each.collect();
            assert_eq!(on_each.len(), 1, "the nodes serve different certificates for {name}");
            on_each
        });
        let certificates: BTreeSet<_> = certificates.flatten().collect();
        assert_eq!(certificates.len(), DOMAINS);
        let expected = OWN_NAMES + round * DOMAINS;
        assert_eq!((scene.pebble.orders(), scene.pebble.issued()), (expected, expected));
        if obtained(orderer) > before {
            break;
        }
        assert!(round < ROUNDS, "one node has obtained no certificate in {round} rounds");
    }
}
