//! R25: slow clients are disconnected, on every request of a connection.

use std::time::Instant;

use signpost_listener::Times;

use crate::harness::{Answer, Client, LONG, SHORT, Scene, get, patient};

#[tokio::test]
async fn r25_every_head_has_a_deadline() {
    let scene = Scene::start(Times { head: SHORT, ..patient() }, 10);
    for before in 0..3 {
        let start = Instant::now();
        let answer = loop {
            if let Some(answer) = answer_to_half_a_head(&scene, before).await {
                break answer;
            }
            assert!(start.elapsed() < LONG, "half a head gets no answer after {before} requests");
        };
        assert_eq!((answer.status, answer.body.as_str()), (408, "HeadTooSlow"), "after {before} requests");
    }
}

/// Sends half a head after `before` requests. `None` if the connection closes without an answer, as it does if a
/// busy client sends its first byte after the deadline.
async fn answer_to_half_a_head(scene: &Scene, before: usize) -> Option<Answer> {
    let mut client = scene.connect().await;
    for _ in 0..before {
        assert_eq!(client.exchange(get("/a")).await?.status, 200);
    }
    let answer = client.exchange("GET / HTTP/1.1\r\nho").await?;
    client.until_closed().await;
    Some(answer)
}

/// A byte now and then does not extend the deadline.
#[tokio::test]
async fn r25_slow_head_has_the_same_deadline_as_a_stalled_one() {
    let scene = Scene::start(Times { head: SHORT, ..patient() }, 10);
    let mut client = scene.connect().await;
    client.send("GET / HTTP/1.1\r\nx: ").await;
    let begun = Instant::now();
    let mut sent = 0;
    // Each byte comes well before the deadline; all of them would take far longer.
    while client.stream.try_write(b"x").is_ok() && begun.elapsed() < LONG {
        sent += 1;
        tokio::time::sleep(SHORT / 10).await;
        if client.stream.try_read(&mut [0; 1]).is_ok() {
            break;
        }
    }
    assert!(begun.elapsed() < LONG, "{sent} bytes kept the connection open");
}

#[tokio::test]
async fn silent_connection_closes_without_an_answer() {
    let scene = Scene::start(Times { head: SHORT, ..patient() }, 10);
    assert_eq!(scene.connect().await.until_closed().await, 0);
    let scene = Scene::start(Times { idle: SHORT, ..patient() }, 10);
    let mut client = scene.connect().await;
    assert_eq!(client.get("/a").await.status, 200);
    assert_eq!(client.until_closed().await, 0);
}

#[tokio::test]
async fn r25_every_body_has_a_deadline() {
    let scene = Scene::start(Times { body: SHORT, ..patient() }, 10);
    for (before, begun) in [
        (0, "content-length: 9\r\n\r\nabc"),
        (2, "content-length: 9\r\n\r\nabc"),
        (0, "transfer-encoding: chunked\r\n\r\n"),
        (1, "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"),
    ] {
        let mut client = scene.connect().await;
        for _ in 0..before {
            assert_eq!(client.get("/a").await.status, 200);
        }
        client.send(format!("POST /echo HTTP/1.1\r\nhost: a\r\n{begun}")).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, 400, "{begun:?} after {before} requests");
        assert!(answer.head.contains("connection: close"));
    }
}

/// An unrequested body costs the service nothing, and the connection ends soon after the answer.
#[tokio::test]
async fn r25_missing_body_does_not_hold_an_answered_connection() {
    let scene = Scene::start(Times { lingering: SHORT, ..patient() }, 10);
    for begun in ["content-length: 9\r\n\r\nabc", "transfer-encoding: chunked\r\n\r\n"] {
        let mut client = scene.connect().await;
        client.send(format!("POST /unread HTTP/1.1\r\nhost: a\r\n{begun}")).await;
        assert_eq!(client.answer().await.status, 200);
        assert_eq!(client.until_closed().await, 0);
        // The server is gone once it stops reading as well.
        let zeros = [b'0'; 4096];
        assert!(client.write_until_refused(&zeros, usize::MAX).await.is_some());
    }
}

#[tokio::test]
async fn r25_client_that_does_not_read_is_disconnected() {
    let scene = Scene::start(Times { stalled: SHORT, ..patient() }, 1);
    let mut first = scene.connect().await;
    first.send(get("/large")).await;
    // The only permit becomes free again, although the first client has read nothing.
    loop {
        let mut second = Client::connect(scene.address()).await;
        if second.get("/a").await.status == 200 {
            break;
        }
    }
    assert!(first.until_closed().await < crate::harness::LARGE);
}
