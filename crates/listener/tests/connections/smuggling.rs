//! Requests with an ambiguous end (R27).

use std::collections::BTreeMap;

use signpost_listener::Times;
use signpost_test_servers::smuggling::{Doubtful, doubtful_chunks, doubtful_heads};

use crate::harness::{SHORT, Scene, patient};

/// Idle connections end soon after an answer, so a wrongly accepted request does not delay the test. The
/// deadline of heads is long, because it also covers the time until a busy client sends its first byte.
fn scene() -> Scene {
    Scene::start(Times { idle: SHORT, ..patient() }, 10)
}

/// Sends each request on its own connection, and returns the answers until the server closed.
async fn answers_to(scene: &Scene, requests: Vec<Doubtful>) -> BTreeMap<&'static str, String> {
    let mut answers_to = BTreeMap::new();
    for Doubtful { flaw, bytes } in requests {
        let mut client = scene.connect().await;
        client.send(bytes).await;
        answers_to.insert(flaw, client.everything().await);
    }
    answers_to
}

fn is_refused(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 400 ")
        && answer.contains("connection: close\r\n")
        && answer.matches("HTTP/1.1").count() == 1
}

#[tokio::test]
async fn r27_ambiguous_head_gets_400_and_closes_the_connection() {
    let scene = scene();
    let requests = doubtful_heads();
    assert!(requests.len() >= 60);
    let wrong: Vec<_> =
        answers_to(&scene, requests).await.into_iter().filter(|(_, answer)| !is_refused(answer)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(scene.calls(), 0);
}

#[tokio::test]
async fn r27_bytes_after_an_ambiguous_body_are_never_a_request() {
    let scene = scene();
    let wrong: Vec<_> = answers_to(&scene, doubtful_chunks())
        .await
        .into_iter()
        .filter(|(_, answer)| answer.contains("/smuggled") || answer.matches("HTTP/1.1").count() != 1)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The server searches the head as it arrives, so a flaw may straddle two pieces.
#[tokio::test]
async fn r27_bare_line_feeds_are_detected_in_any_pieces() {
    let scene = scene();
    let request = "\r\nGET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n";
    for at in 1..request.len() {
        let mut client = scene.connect().await;
        client.stream.set_nodelay(true).unwrap();
        let (first, second) = request.split_at(at);
        client.send(first).await;
        client.send(second).await;
        let answer = client.everything().await;
        assert!(is_refused(&answer), "split at {at}: {answer}");
    }
    assert_eq!(scene.calls(), 0);
}

#[tokio::test]
async fn empty_lines_before_a_request_are_skipped() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    for before in ["", "\r\n", "\r\n\r\n"] {
        client.send(format!("{before}GET /next HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        assert_eq!(client.answer().await.body, "/next");
    }
}
