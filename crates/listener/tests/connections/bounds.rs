//! R25, R26: limits of one connection, and of all connections together.

use std::num::NonZeroUsize;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use signpost_listener::{ListenerOptions, MAX_BODY_BYTES, MAX_HEAD_BYTES, MAX_LINGERING_BYTES, Times};

use crate::harness::{Client, LARGE, LONG, SHORT, Scene, get, patient};

#[tokio::test]
async fn head_of_maximum_size_is_accepted_and_a_larger_one_refused() {
    let scene = Scene::start(patient(), 10);
    let head = |bytes: usize| {
        let empty = "GET / HTTP/1.1\r\nhost: a\r\nx: \r\n\r\n";
        empty.replace("x: ", &format!("x: {}", "y".repeat(bytes - empty.len())))
    };
    let mut client = scene.connect().await;
    client.send(head(MAX_HEAD_BYTES)).await;
    assert_eq!(client.answer().await.status, 200);
    for bytes in [MAX_HEAD_BYTES + 1, 4 * MAX_HEAD_BYTES] {
        let mut client = scene.connect().await;
        client.send(head(bytes)).await;
        assert_eq!(client.answer().await.body, "HeadTooLarge");
    }
    // A head that never ends is refused too.
    let mut client = scene.connect().await;
    client.send(&head(2 * MAX_HEAD_BYTES)[..MAX_HEAD_BYTES]).await;
    assert_eq!(client.answer().await.body, "HeadTooLarge");
    assert_eq!(scene.calls(), 1);
}

/// Clients that never finish their heads hold a bounded part of the memory, and only large heads notice.
#[tokio::test]
async fn r26_unfinished_heads_share_a_bound() {
    let options = ListenerOptions {
        connections: 100,
        times: patient(),
        head_memory: 3 * MAX_HEAD_BYTES,
        ..ListenerOptions::new("test", NonZeroUsize::MIN)
    };
    let scene = Scene::start_with(&options);
    let part = |bytes: usize| format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}", "y".repeat(bytes));
    let mut held: Vec<Client> = Vec::new();
    let mut refused = 0;
    for _ in 0..20 {
        let mut client = scene.connect().await;
        client.send(part(MAX_HEAD_BYTES - 1_000)).await;
        // A small head needs no room of others, and shows that the listener has read the large one.
        let mut other = scene.connect().await;
        other.send(part(2_000) + "\r\n\r\n").await;
        assert_eq!(other.answer().await.status, 200);
        held.push(client);
    }
    for client in &mut held {
        let answer = client.exchange("\r\n\r\n").await.unwrap();
        refused += usize::from((answer.status, answer.body.as_str()) == (503, "Overloaded"));
    }
    assert!((16..20).contains(&refused), "{refused} of 20 heads had no room");
    drop(held);
    // Room is given back when the connections end, which the listener notices a little later.
    let begun = std::time::Instant::now();
    loop {
        let mut client = scene.connect().await;
        client.send(part(MAX_HEAD_BYTES - 1_000)).await;
        client.send("\r\n\r\n").await;
        if client.answer().await.status == 200 {
            break;
        }
        assert!(begun.elapsed() < LONG);
    }
}

/// Pipelined requests wait for room: a client that reads nothing causes only a few answers, not all.
#[tokio::test]
async fn pipelined_requests_wait_for_earlier_answers() {
    let scene = Scene::start(Times { stalled: Duration::from_secs(2), ..patient() }, 10);
    let mut client = scene.connect().await;
    client.send(get("/large").repeat(50)).await;
    // Ends when the server closes. Until then it could have called the service for every request.
    while client.stream.try_write(b"").is_ok() && scene.calls() == 0 {
        tokio::task::yield_now().await;
    }
    let mut others = scene.connect().await;
    for _ in 0..100 {
        assert_eq!(others.get("/a").await.status, 200);
    }
    assert_eq!(scene.calls(), 1 + 100, "the second large answer was made before the first one was taken");
}

/// The memory of one connection, as visible from outside: how much the server reads of an oversized body, and
/// writes of an answer that the client does not read.
#[tokio::test]
async fn r26_endless_body_is_read_up_to_the_limit() {
    let scene = Scene::start(patient(), 10);
    let chunk = format!("{:x}\r\n{}\r\n", 4096, "z".repeat(4096));
    for path in ["/unread", "/echo"] {
        let mut client = scene.connect().await;
        client.send(format!("POST {path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")).await;
        // Some bytes beyond those are in the buffers of the two sockets.
        let most = MAX_BODY_BYTES + MAX_LINGERING_BYTES + 16 * 1024 * 1024;
        let taken = client.write_until_refused(chunk.as_bytes(), most).await;
        assert!(taken.is_some(), "{path}: {most} bytes were read");
    }
    let received = scene.seen.body_bytes.load(std::sync::atomic::Ordering::SeqCst);
    assert!(received <= MAX_BODY_BYTES + 64 * 1024, "{received}");
}

#[tokio::test]
async fn r25_door_answers_only_its_paths_beyond_the_limit() {
    let scene = Scene::start(patient(), 20);
    let mut held = scene.hold(20).await;
    let mut refused = scene.connect().await;
    let answer = refused.get("/a").await;
    assert_eq!((answer.status, answer.body.as_str()), (503, "Overloaded"));
    refused.until_closed().await;
    let mut probe = scene.connect().await;
    let answer = probe.get("/door").await;
    assert_eq!((answer.status, answer.head.contains("connection: close")), (200, true));
    probe.until_closed().await;
    // Admitted connections still work, and each that ends makes room.
    scene.leave.add_permits(20);
    assert_eq!(held[7].answer().await.body, "waited");
    held.clear();
    loop {
        if scene.connect().await.get("/a").await.status == 200 {
            break;
        }
    }
}

/// Connections that only wait must not keep others out, however many one client holds.
#[tokio::test]
async fn r25_the_connection_that_waits_longest_makes_room() {
    let scene = Scene::start(patient(), 3);
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = scene.connect().await;
        assert_eq!(client.get("/a").await.status, 200);
        clients.push(client);
    }
    // Now the second waits longest, and one has a request.
    assert_eq!(clients[0].get("/a").await.status, 200);
    let mut running = clients.pop().unwrap();
    running.send(get("/wait")).await;
    for evicted in [1, 0] {
        let mut newcomer = scene.connect().await;
        assert_eq!(newcomer.get("/a").await.status, 200, "{evicted}");
        clients[evicted].until_closed().await;
        clients.push(newcomer);
    }
    scene.leave.add_permits(1);
    assert_eq!(running.answer().await.body, "waited");
    // A connection without any request waits too.
    let mut silent = [scene.connect().await, scene.connect().await, scene.connect().await];
    assert_eq!(scene.connect().await.get("/a").await.status, 200);
    silent[0].until_closed().await;
}

#[tokio::test]
async fn r25_many_waiting_connections_do_not_keep_others_out() {
    let scene = Scene::start(patient(), 150);
    let mut waiting = Vec::new();
    for number in 0..500 {
        let mut client = scene.connect().await;
        assert_eq!(client.get("/a").await.status, 200);
        if number % 2 == 0 {
            // A head that never ends waits too.
            client.send("G").await;
        }
        waiting.push(client);
    }
    assert_eq!(scene.connect().await.get("/a").await.status, 200);
}

#[tokio::test]
async fn r25_one_address_holds_half_of_the_connections_at_most() {
    let options = ListenerOptions {
        connections: 20,
        times: patient(),
        ..ListenerOptions::new("test", NonZeroUsize::MIN)
    };
    let scene = Scene::start_with(&options);
    let mut held = scene.hold(10).await;
    let answer = scene.connect().await.get("/a").await;
    assert_eq!((answer.status, answer.body.as_str()), (503, "Overloaded"));
    assert_eq!(scene.connect().await.get("/door").await.status, 200);
    scene.leave.add_permits(10);
    for client in &mut held {
        assert_eq!(client.answer().await.body, "waited");
    }
    // Now they wait, and make room for others of their address.
    assert_eq!(scene.connect().await.get("/a").await.status, 200);
    drop(held);
    while scene.connect().await.get("/a").await.status != 200 {}
}

/// A limit alone does not stop this attack: so many silent connections that even the door is full.
#[tokio::test]
async fn r25_silent_connections_do_not_block_health_checks() {
    let scene = Scene::start(patient(), 10);
    let mut silent = Vec::new();
    for _ in 0..200 {
        let mut client = scene.connect().await;
        client.send("GET /door HT").await;
        silent.push(client);
    }
    for _ in 0..20 {
        assert_eq!(scene.connect().await.get("/door").await.status, 200);
    }
    // Evicted clients got a reason. A few of them stay: ten with a permit, and some at the door.
    let mut answers: FuturesUnordered<_> = silent.iter_mut().map(Client::answer).collect();
    for _ in 0..100 {
        let answer = answers.next().await.unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (503, "Overloaded"));
    }
    assert_eq!(scene.calls(), 20);
}

#[tokio::test]
async fn r25_door_has_a_shorter_deadline() {
    let scene = Scene::start(Times { door: SHORT, ..patient() }, 1);
    let _held = scene.hold(1).await;
    let mut silent = scene.connect().await;
    let answer = silent.answer().await;
    assert_eq!((answer.status, answer.body.as_str()), (503, "Overloaded"));
}

#[tokio::test]
async fn large_answer_arrives_complete() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    for _ in 0..2 {
        assert_eq!(client.get("/large").await.body.len(), LARGE);
    }
}

/// A refused request, or one answered without reading its body, leaves the door at once, whatever the client
/// does.
#[tokio::test]
async fn r25_connections_do_not_linger_at_the_door() {
    let scene = Scene::start(patient(), 10);
    let _held = scene.hold(10).await;
    let mut stubborn = Vec::new();
    for number in 0..100 {
        let mut client = scene.connect().await;
        client
            .send(if number % 2 == 0 {
                "x\r\n\r\n"
            } else {
                "GET /door HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n"
            })
            .await;
        stubborn.push(client);
    }
    for _ in 0..20 {
        assert_eq!(scene.connect().await.get("/door").await.status, 200);
    }
}
