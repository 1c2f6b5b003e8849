//! D64: a graceful stop closes idle connections and lets running requests finish.

use std::time::Duration;

use signpost_listener::Times;
use tokio::io::AsyncReadExt as _;

use crate::harness::{Client, SHORT, Scene, get, patient};

#[tokio::test]
async fn d64_graceful_stop_finishes_requests_and_closes_idle_connections() {
    let scene = Scene::start(Times { lingering: SHORT, ..patient() }, 10);
    let (mut idle, mut fresh, mut running) =
        (scene.connect().await, scene.connect().await, scene.connect().await);
    assert_eq!(idle.get("/a").await.status, 200);
    running.send(get("/wait") + &get("/behind")).await;
    while scene.calls() < 2 {
        tokio::task::yield_now().await;
    }
    let (address, leave) = (scene.address(), scene.leave);
    let stopping = tokio::spawn(scene.listener.stop(true));
    assert_eq!(idle.until_closed().await, 0);
    assert_eq!(fresh.until_closed().await, 0);
    assert!(!stopping.is_finished());
    leave.add_permits(1);
    let answer = running.answer().await;
    assert_eq!((answer.body.as_str(), answer.head.contains("connection: close")), ("waited", true));
    assert_eq!(running.until_closed().await, 0, "a request began after the stop");
    stopping.await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn d64_graceful_stop_ends_at_its_deadline() {
    let scene = Scene::start(Times { stopping: SHORT, ..patient() }, 10);
    let mut running = scene.connect().await;
    running.send(get("/wait")).await;
    while scene.calls() == 0 {
        tokio::task::yield_now().await;
    }
    scene.listener.stop(true).await.unwrap();
    assert_eq!(running.until_closed().await, 0);
}

#[tokio::test]
async fn immediate_stop_ends_everything() {
    let scene = Scene::start(patient(), 10);
    let mut running = scene.connect().await;
    running.send(get("/wait")).await;
    while scene.calls() == 0 {
        tokio::task::yield_now().await;
    }
    scene.listener.stop(false).await.unwrap();
    assert_eq!(running.until_closed().await, 0);
}

/// The client has no other sign that the answer is incomplete.
#[tokio::test]
async fn immediate_stop_resets_an_answer_to_http_1_0() {
    let scene = Scene::start(patient(), 10);
    let mut running = scene.connect().await;
    running.send("GET /endless HTTP/1.0\r\n\r\n").await;
    assert!(running.until_empty_line().await.unwrap().contains("200"));
    scene.listener.stop(false).await.unwrap();
    let ended = running.stream.read_to_end(&mut Vec::new()).await;
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

/// A client that does not read must not delay a stop until its deadline.
#[tokio::test]
async fn d64_client_that_does_not_read_does_not_delay_a_stop() {
    let scene = Scene::start(Times { stalled: SHORT, ..patient() }, 10);
    let mut stalled = Client::connect(scene.address()).await;
    stalled.send(get("/large").repeat(8)).await;
    while scene.calls() == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(Duration::from_secs(30), scene.listener.stop(true)).await.unwrap().unwrap();
}

/// A connection from before the stop gets an answer, even if its request comes a moment later.
#[tokio::test]
async fn d64_earlier_connections_are_served_once_after_the_stop() {
    let scene = Scene::start(Times { lingering: Duration::from_secs(10), ..patient() }, 1_000);
    let mut clients = Vec::new();
    for _ in 0..200 {
        clients.push(scene.connect().await);
    }
    for client in &mut clients {
        client.send(get("/a")).await;
    }
    let stopping = tokio::spawn(scene.listener.stop(true));
    // Each client leaves once it is served, so that no connection lingers.
    for mut client in clients {
        assert_eq!(client.answer().await.body, "/a");
        client.until_closed().await;
    }
    stopping.await.unwrap().unwrap();
}

/// Half a head is not a running request.
#[tokio::test]
async fn d64_incomplete_heads_do_not_delay_a_stop() {
    let scene = Scene::start(Times { lingering: SHORT, ..patient() }, 100);
    let mut halves = Vec::new();
    for before in [0, 1].repeat(10) {
        let mut client = scene.connect().await;
        for _ in 0..before {
            assert_eq!(client.get("/a").await.status, 200);
        }
        client.send("GET / HT").await;
        halves.push(client);
    }
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, scene.listener.stop(true)).await.unwrap().unwrap();
}
