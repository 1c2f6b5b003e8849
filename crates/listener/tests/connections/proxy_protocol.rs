//! D197: behind a TCP balancer, the address of the client comes from the balancer's header.

use std::num::NonZeroUsize;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use signpost_listener::{ListenerOptions, Proxies, Times};
use tokio::time::timeout;

use crate::harness::{Client, LONG, SHORT, Scene, get, patient};
use crate::tls::TlsScene;

/// A header of version 2 for the client 192.0.2.7:8080.
const HEADER: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\x1f\x90\x01\xbb";

/// A header with which the balancer connects on its own behalf.
const OWN_HEADER: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

fn behind_a_balancer(is_trusted: bool, times: Times) -> Scene {
    Scene::start_with(&ListenerOptions {
        times,
        reads_proxy_protocol: true,
        proxies: Proxies::new(move |_| is_trusted),
        ..ListenerOptions::new("test", NonZeroUsize::MIN)
    })
}

#[tokio::test]
async fn d197_requests_have_the_address_of_the_balancers_client() {
    let scene = behind_a_balancer(true, patient());
    let mut client = scene.connect().await;
    // The header may arrive in parts, and together with the first request.
    client.send(&HEADER[..5]).await;
    client.send([&HEADER[5..], get("/peer").as_bytes()].concat()).await;
    assert_eq!(client.answer().await.body, "192.0.2.7:8080");
    assert_eq!(client.get("/peer").await.body, "192.0.2.7:8080");
}

#[tokio::test]
async fn d197_a_header_from_an_untrusted_peer_closes() {
    let scene = behind_a_balancer(false, patient());
    let mut client = scene.connect().await;
    assert_eq!(client.exchange([HEADER, get("/peer").as_bytes()].concat()).await, None);
    assert_eq!(scene.calls(), 0);
}

#[tokio::test]
async fn d197_a_connection_without_a_header_closes() {
    let scene = behind_a_balancer(true, patient());
    for bytes in [get("/peer").into_bytes(), b"PROXY TCP4 192.0.2.7 198.51.100.1 8080 443\r\n".to_vec()] {
        let mut client = scene.connect().await;
        client.send(bytes).await;
        assert_eq!(client.until_closed().await, 0, "no answer, because the peer may be anyone");
    }
    assert_eq!(scene.calls(), 0);
}

#[tokio::test]
async fn d197_a_slow_header_closes() {
    let scene = behind_a_balancer(true, Times { head: SHORT, ..patient() });
    for begun in [0, 1, HEADER.len() - 1] {
        let mut client = scene.connect().await;
        client.send(&HEADER[..begun]).await;
        assert_eq!(client.until_closed().await, 0, "{begun}");
    }
}

/// A listener that trusts this machine as a balancer, with all of its connections taken.
async fn full(connections: usize, times: Times) -> (Scene, Vec<Client>) {
    let scene = Scene::start_with(&ListenerOptions {
        connections,
        times,
        reads_proxy_protocol: true,
        proxies: Proxies::new(|peer| peer.is_loopback()),
        ..ListenerOptions::new("test", NonZeroUsize::MIN)
    });
    let mut held = Vec::new();
    for _ in 0..connections {
        let mut client = scene.connect().await;
        client.send([OWN_HEADER, get("/wait").as_bytes()].concat()).await;
        held.push(client);
    }
    while scene.calls() < connections {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    (scene, held)
}

#[tokio::test]
async fn d197_beyond_the_limit_a_header_has_the_time_of_the_door() {
    let (scene, _held) = full(20, Times { door: SHORT, ..patient() }).await;
    let mut client = scene.connect().await;
    client.send(&HEADER[..5]).await;
    assert_eq!(client.until_closed().await, 0);
    // A probe is still answered.
    let mut probe = scene.connect().await;
    probe.send([OWN_HEADER, get("/door").as_bytes()].concat()).await;
    assert_eq!(probe.answer().await.status, 200);
}

#[tokio::test]
async fn d197_a_connection_at_the_door_makes_room_before_its_header() {
    let (scene, _held) = full(20, patient()).await;
    let mut oldest = scene.connect().await;
    let mut others = Vec::new();
    for _ in 0..16 {
        others.push(scene.connect().await);
    }
    assert_eq!(oldest.until_closed().await, 0);
}

#[tokio::test]
async fn d197_a_client_of_the_balancer_holds_half_of_the_connections() {
    let scene = Scene::start_with(&ListenerOptions {
        connections: 20,
        times: patient(),
        reads_proxy_protocol: true,
        proxies: Proxies::new(|peer| peer.is_loopback()),
        ..ListenerOptions::new("test", NonZeroUsize::MIN)
    });
    let mut held = Vec::new();
    for _ in 0..10 {
        let mut client = scene.connect().await;
        client.send([HEADER, get("/a").as_bytes()].concat()).await;
        assert_eq!(client.answer().await.status, 200);
        held.push(client);
    }
    let mut refused = scene.connect().await;
    assert_eq!(refused.exchange([HEADER, get("/a").as_bytes()].concat()).await, None);
    // The balancer itself and its other clients are not affected.
    let other = [&HEADER[..16], &[192, 0, 2, 8], &HEADER[20..]].concat();
    for header in [OWN_HEADER, &other] {
        let mut client = scene.connect().await;
        client.send([header, get("/a").as_bytes()].concat()).await;
        assert_eq!(client.answer().await.status, 200);
        held.push(client);
    }
    // A place that becomes free is the client's again; the listener notices the end a little later.
    held.remove(0);
    loop {
        let mut client = scene.connect().await;
        if client.exchange([HEADER, get("/a").as_bytes()].concat()).await.is_some() {
            break;
        }
    }
}

#[tokio::test]
async fn d196_a_client_of_the_balancer_has_64_unfinished_handshakes() {
    let tls = TlsScene::start(|options| ListenerOptions {
        reads_proxy_protocol: true,
        proxies: Proxies::new(|peer| peer.is_loopback()),
        ..options
    });
    let mut silent = FuturesUnordered::new();
    for _ in 0..65 {
        let mut client = tls.scene.connect().await;
        client.send(HEADER).await;
        silent.push(async move { client.until_closed().await });
    }
    assert_eq!(silent.next().await, Some(0), "one of them is refused");
    assert!(timeout(SHORT, silent.next()).await.is_err(), "the others go on");
}

#[tokio::test]
async fn d197_no_header_is_read_unless_it_is_set() {
    let scene = Scene::start(Times { idle: LONG, ..patient() }, 10);
    let mut client: Client = scene.connect().await;
    client.send(HEADER).await;
    assert_eq!(client.answer().await.status, 400);
}
