//! Orders of certificates, which nodes share (D185, D186, D188).

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use signpost_domain::Timestamp;
use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::redis::{self, RedisServer};

use crate::harness::domains::path_of;
use crate::harness::https::{HttpsScene, OWN_NAMES, await_found};
use crate::harness::{Account, Program, Store, concurrently, is_soak};

/// How many domains are proven at the same time.
const DOMAINS: usize = 50;

/// How often to prove that many domains until the node that answers no challenge has obtained a certificate. A node works on
/// eight at a time and looks for work each second, so only a node that gets no processor for seconds obtains none.
const ROUNDS: usize = 2;

/// How soon every node serves a certificate that is stored. Only a soak, which has the machine to itself, holds the product to it.
const SERVED_WITHIN: Duration = Duration::from_secs(2);

/// How long the certificates of one round may take, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// How long to wait between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

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

/// When a node first served the certificate, and the certificate.
type Served = (SystemTime, Vec<u8>);

/// Asks the nodes for these names until each serves each of them. Returns what the nodes serve, node by node for each name.
fn await_certificates(scene: &HttpsScene, names: &[String]) -> BTreeMap<String, Vec<Served>> {
    let clients: Vec<_> = scene.nodes().iter().map(|node| scene.client(node)).collect();
    let mut served = BTreeMap::<_, Vec<_>>::new();
    let mut missing: Vec<_> =
        names.iter().flat_map(|name| clients.iter().map(move |client| (name, client))).collect();
    let ends = Instant::now() + PATIENCE;
    while !missing.is_empty() {
        assert!(Instant::now() < ends, "{} certificates did not come", missing.len());
        missing.retain(|(name, client)| {
            let Ok(connection) = client.connect(name) else { return true };
            let first: &mut Vec<_> = served.entry((*name).clone()).or_default();
            first.push((SystemTime::now(), connection.certificate()));
            false
        });
        // So that the programs get the processor.
        std::thread::sleep(POLL_INTERVAL);
    }
    served
}

/// When the domain's certificate was stored.
fn stored_at(account: &Account, domain: &Value) -> SystemTime {
    let domain = account.get(&path_of(domain)).expect_status(200).body;
    let at = Timestamp::parse(domain["certificate"]["last_attempt_at"].as_str().unwrap()).unwrap();
    UNIX_EPOCH + Duration::from_millis(at.unix_millis().unsigned_abs())
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
        let domains = concurrently(DOMAINS, |number| scene.prove(&clients[number % 2], &names[number]));
        let served = await_certificates(&scene, &names);
        let mut certificates = BTreeSet::new();
        let mut slowest = Duration::ZERO;
        for (name, domain) in names.iter().zip(&domains) {
            let stored = stored_at(&clients[0], domain);
            let (times, on_each): (Vec<_>, BTreeSet<_>) = served[name].iter().cloned().unzip();
            assert_eq!(on_each.len(), 1, "the nodes serve different certificates for {name}");
            certificates.extend(on_each);
            let last = times.into_iter().max().unwrap();
            slowest = slowest.max(last.duration_since(stored).unwrap_or_default());
        }
        assert_eq!(certificates.len(), DOMAINS);
        let expected = OWN_NAMES + round * DOMAINS;
        assert_eq!((scene.pebble.orders(), scene.pebble.issued()), (expected, expected));
        if is_soak() {
            eprintln!("D185: every node serves a certificate at most {slowest:?} after it is stored");
            assert!(slowest <= SERVED_WITHIN, "{slowest:?}");
        }
        if obtained(orderer) > before {
            break;
        }
        assert!(round < ROUNDS, "one node has obtained no certificate in {round} rounds");
    }
}
