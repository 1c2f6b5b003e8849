//! D197: behind a TCP balancer, the address of the client comes from the balancer's header.

use std::num::NonZeroUsize;

use signpost_listener::{ListenerOptions, Proxies, Times};

use crate::harness::{Client, LONG, SHORT, Scene, get, patient};

/// A header of version 2 for the client 192.0.2.7:8080.
const HEADER: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\x1f\x90\x01\xbb";

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

#[tokio::test]
async fn d197_no_header_is_read_unless_it_is_set() {
    let scene = Scene::start(Times { idle: LONG, ..patient() }, 10);
    let mut client: Client = scene.connect().await;
    client.send(HEADER).await;
    assert_eq!(client.answer().await.status, 400);
}
