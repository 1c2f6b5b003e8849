//! Requests with an ambiguous end (R27).

use std::collections::BTreeMap;

use signpost_listener::{MAX_HEAD_BYTES, Times};
use signpost_test_servers::smuggling::{Doubtful, doubtful_chunks, doubtful_heads};

use crate::harness::{SHORT, Scene, get, patient};

/// Idle connections end soon after an answer, so a wrongly accepted request does not delay the test. The
/// deadline of heads is long, because it also covers the time until a busy client sends its first byte.
fn scene() -> Scene {
    Scene::start(times(), 10)
}

fn times() -> Times {
    Times { idle: SHORT, ..patient() }
}

/// A listener, and one that percent-encodes raw bytes of targets.
fn scenes() -> [Scene; 2] {
    [scene(), Scene::encoding(times())]
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
    for scene in scenes() {
        let requests = doubtful_heads();
        assert!(requests.len() >= 60);
        let answers = answers_to(&scene, requests).await;
        let wrong: Vec<_> = answers.into_iter().filter(|(_, answer)| !is_refused(answer)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(scene.calls(), 0);
    }
}

#[tokio::test]
async fn r27_bytes_after_an_ambiguous_body_are_never_a_request() {
    for scene in scenes() {
        let wrong: Vec<_> = answers_to(&scene, doubtful_chunks())
            .await
            .into_iter()
            .filter(|(_, answer)| answer.contains("/smuggled") || answer.matches("HTTP/1.1").count() != 1)
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
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

/// Encoding a target moves the bytes behind it, so a request may not take bytes from the next or leave some behind.
#[tokio::test]
async fn r27_encoded_targets_shift_no_body_and_no_request() {
    let scene = Scene::encoding(patient());
    let body = "\"ü\" <GET /ü HTTP/1.1\r\nhost: a\r\n\r\n>";
    let post = format!(
        "POST /echo?\"ü\" HTTP/1.1\r\nhost: a\r\nx: \"ü\"\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let requests = format!("{post}{}\r\n{}{post}", get("/ü?q=\"<日>\""), get("http://a/ü"));
    for size in [1, 2, 3, 7, 64, requests.len()] {
        let mut client = scene.connect().await;
        client.stream.set_nodelay(true).unwrap();
        for piece in requests.as_bytes().chunks(size) {
            client.send(piece).await;
        }
        for expected in [body, "/%C3%BC?q=%22%3C%E6%97%A5%3E%22", "http://a/%C3%BC", body] {
            let answer = client.answer().await;
            assert_eq!((answer.status, answer.body.as_str()), (200, expected), "in pieces of {size}");
        }
    }
}

#[tokio::test]
async fn d53_targets_are_encoded_only_by_request() {
    let encoding = Scene::encoding(patient());
    for target in ["/a?q=ü", "/a?q=\"", "/a?q=<>", "/ü"] {
        let answer = encoding.connect().await.get(target).await;
        assert_eq!(answer.status, 200, "{target}");
        let scene = scene();
        assert_eq!(scene.connect().await.get(target).await.status, 400, "{target}");
    }
    for target in ["/a b", "/a?\u{1}", "/a?\u{7f}", "/a?\0"] {
        assert_eq!(encoding.connect().await.get(target).await.status, 400, "{target:?}");
    }
    for raw in [MAX_HEAD_BYTES / 3, MAX_HEAD_BYTES - 64] {
        assert_eq!(encoding.connect().await.get(&format!("/{}", "\"".repeat(raw))).await.status, 431);
    }
    let fits = format!("/{}", "\"".repeat(MAX_HEAD_BYTES / 3 - 64));
    assert_eq!(encoding.connect().await.get(&fits).await.status, 200);
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
