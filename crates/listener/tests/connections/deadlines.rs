//! R25: whoever is slow is closed, on every request of a connection.

use std::time::Instant;

use signpost_listener::Times;

use crate::harness::{Client, SHORT, Scene, get, patient};

#[tokio::test]
async fn r25_every_head_is_timed_and_not_only_the_first() {
    let scene = Scene::start(Times { head: SHORT, ..patient() }, 10);
    for before in 0..3 {
        let mut client = scene.connect().await;
        for _ in 0..before {
            assert_eq!(client.get("/a").await.status, 200);
        }
        client.send("GET / HTTP/1.1\r\nho").await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (408, "HeadTooSlow"), "after {before} requests");
        client.until_closed().await;
    }
}

/// A byte now and then does not buy more time.
#[tokio::test]
async fn r25_a_head_that_dribbles_is_no_longer_waited_for_than_one_that_stands_still() {
    let scene = Scene::start(Times { head: SHORT, ..patient() }, 10);
    let mut client = scene.connect().await;
    client.send("GET / HTTP/1.1\r\nx: ").await;
    let begun = Instant::now();
    let mut sent = 0;
    // Each byte comes well before the deadline, all of them long after it.
    while client.stream.try_write(b"x").is_ok() && begun.elapsed() < SHORT * 20 {
        sent += 1;
        tokio::time::sleep(SHORT / 10).await;
        if client.stream.try_read(&mut [0; 1]).is_ok() {
            break;
        }
    }
    assert!(begun.elapsed() < SHORT * 20, "{sent} bytes kept the connection open");
}

#[tokio::test]
async fn a_connection_on_which_nothing_comes_closes_without_an_answer() {
    let scene = Scene::start(Times { head: SHORT, ..patient() }, 10);
    assert_eq!(scene.connect().await.until_closed().await, 0);
    let scene = Scene::start(Times { idle: SHORT, ..patient() }, 10);
    let mut client = scene.connect().await;
    assert_eq!(client.get("/a").await.status, 200);
    assert_eq!(client.until_closed().await, 0);
}

#[tokio::test]
async fn r25_every_body_is_timed_and_not_only_the_first() {
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

/// A body that the service never asks for costs it nothing, and the connection ends soon after the answer.
#[tokio::test]
async fn r25_a_body_that_never_comes_does_not_keep_a_connection_open_after_its_answer() {
    let scene = Scene::start(Times { lingering: SHORT, ..patient() }, 10);
    for begun in ["content-length: 9\r\n\r\nabc", "transfer-encoding: chunked\r\n\r\n"] {
        let mut client = scene.connect().await;
        client.send(format!("POST /unread HTTP/1.1\r\nhost: a\r\n{begun}")).await;
        assert_eq!(client.answer().await.status, 200);
        assert_eq!(client.until_closed().await, 0);
        // The other side is gone for good when it stops reading as well.
        let zeros = [b'0'; 4096];
        assert!(client.write_until_refused(&zeros, usize::MAX).await.is_some());
    }
}

#[tokio::test]
async fn r25_a_client_that_takes_nothing_of_its_answer_is_closed() {
    let scene = Scene::start(Times { stalled: SHORT, ..patient() }, 1);
    let mut first = scene.connect().await;
    first.send(get("/large")).await;
    // The only place becomes free again without the first client having read a byte.
    loop {
        let mut second = Client::connect(scene.address()).await;
        if second.get("/a").await.status == 200 {
            break;
        }
    }
    assert!(first.until_closed().await < crate::harness::LARGE);
}
