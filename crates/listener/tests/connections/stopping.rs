//! D64: a graceful stop ends what is idle and lets finish what runs.

use std::time::Duration;

use signpost_listener::Times;

use crate::harness::{Client, SHORT, Scene, get, patient};

#[tokio::test]
async fn d64_a_graceful_stop_lets_requests_finish_and_closes_idle_connections() {
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
async fn d64_what_does_not_finish_is_not_waited_for_beyond_its_time() {
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
async fn a_stop_that_is_not_graceful_ends_everything_at_once() {
    let scene = Scene::start(patient(), 10);
    let mut running = scene.connect().await;
    running.send(get("/wait")).await;
    while scene.calls() == 0 {
        tokio::task::yield_now().await;
    }
    scene.listener.stop(false).await.unwrap();
    assert_eq!(running.until_closed().await, 0);
}

/// One client that reads nothing must not make a stop wait until the end of its time.
#[tokio::test]
async fn d64_a_client_that_takes_nothing_does_not_hold_up_a_stop() {
    let scene = Scene::start(Times { stalled: SHORT, ..patient() }, 10);
    let mut stalled = Client::connect(scene.address()).await;
    stalled.send(get("/large").repeat(8)).await;
    while scene.calls() == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(Duration::from_secs(30), scene.listener.stop(true)).await.unwrap().unwrap();
}

/// Who has connected before the stop gets an answer, also if the request comes a moment later.
#[tokio::test]
async fn d64_connections_from_before_the_stop_are_served_once() {
    let scene = Scene::start(Times { lingering: SHORT, ..patient() }, 1_000);
    let mut clients = Vec::new();
    for _ in 0..200 {
        clients.push(scene.connect().await);
    }
    for client in &mut clients {
        client.send(get("/a")).await;
    }
    let stopping = tokio::spawn(scene.listener.stop(true));
    for client in &mut clients {
        assert_eq!(client.answer().await.body, "/a");
        client.until_closed().await;
    }
    stopping.await.unwrap().unwrap();
}

/// Whoever has sent half a head has no request under way.
#[tokio::test]
async fn d64_half_heads_do_not_hold_up_a_stop() {
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
