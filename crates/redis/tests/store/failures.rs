//! Servers that are not there, do not answer, refuse, and come back. Every call ends within its time limit (D6).

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use signpost_port_contracts::samples;
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};
use tokio::time::timeout;

use crate::opening::{WHO, admit, counted, lasting_server, open, open_with_time_limit, server, unavailable};

/// Far above what a call may take, far below what a hang would.
const SOON: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_server_that_is_killed_and_started_again_is_found_by_the_same_store() {
    let mut server = lasting_server();
    let (store, account) = (open(&server.url(0)), samples::id());
    for restarts in 0..3 {
        admit(&store, account).await.unwrap();
        server.kill();
        for _ in 0..3 {
            let start = Instant::now();
            unavailable(admit(&store, account).await);
            assert!(start.elapsed() < SOON);
        }
        unavailable(store.check().await);
        server.start_again();
        // The first connection after the last failure is a new one.
        store.check().await.unwrap();
        assert_eq!(counted(&store, account).await, restarts + 1);
    }
}

#[tokio::test]
async fn a_store_opens_before_its_server_is_there() {
    let mut server = server();
    server.kill();
    let (store, account) = (open(&server.url(0)), samples::id());
    unavailable(admit(&store, account).await);
    server.start_again();
    admit(&store, account).await.unwrap();
}

#[tokio::test]
async fn d6_a_server_that_does_not_answer_is_waited_for_no_longer_than_the_time_limit() {
    let server = server();
    let limit = Duration::from_millis(100);
    let (store, account) = (open_with_time_limit(&server.url(0), limit), samples::id());
    admit(&store, account).await.unwrap();
    server.pause();
    // The first few on the connection that was there, the others on one that never comes to be.
    // Those that find an attempt to connect share its failure, which may come sooner.
    for least in [limit, Duration::ZERO, Duration::ZERO] {
        let start = Instant::now();
        let calls = join_all((0..20).map(|_| admit(&store, account))).await;
        assert!((least..SOON).contains(&start.elapsed()), "{:?}", start.elapsed());
        for call in calls {
            let message = unavailable(call);
            assert!(message.contains("time") || message.contains("timed out"), "{message}");
        }
    }
    server.resume();
    let start = Instant::now();
    while admit(&store, account).await.is_err() {
        assert!(start.elapsed() < SOON);
    }
}

#[tokio::test]
async fn a_server_that_wants_another_password_refuses() {
    let setup = Setup { password: Some("s3cret".to_owned()), ..Setup::default() };
    let server = RedisServer::start_with(WHO, &setup);
    let account = samples::id();
    for credentials in ["", ":wrong@", "nobody:s3cret@"] {
        let url = format!("redis://{credentials}127.0.0.1:{}", server.port());
        unavailable(admit(&open(&url), account).await);
    }
    let url = format!("redis://:s3cret@127.0.0.1:{}", server.port());
    admit(&open(&url), account).await.unwrap();
}

/// As after a failover, when the name of the server still leads to what is now a replica.
#[tokio::test]
async fn a_server_that_became_a_replica_refuses_until_it_is_none_any_more() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    admit(&store, account).await.unwrap();
    let _ = server.command(&["REPLICAOF", "127.0.0.1", "1"]);
    for _ in 0..3 {
        let message = unavailable(admit(&store, account).await);
        assert!(message.contains("read only replica"), "{message}");
    }
    let _ = server.command(&["REPLICAOF", "NO", "ONE"]);
    admit(&store, account).await.unwrap();
    assert_eq!(counted(&store, account).await, 2);
}

#[tokio::test]
async fn a_server_that_is_full_refuses_and_counts_nothing() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    admit(&store, account).await.unwrap();
    let _ = server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    let message = unavailable(admit(&store, account).await);
    assert!(message.contains("OOM"), "{message}");
    let _ = server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(counted(&store, account).await, 1);
}

/// Redis closes connections that were idle for long, if it is told to. One call may fail by that.
#[tokio::test]
async fn a_connection_that_the_server_closed_is_made_anew() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    for _ in 0..5 {
        admit(&store, account).await.unwrap();
        let _ = server.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        let _ = admit(&store, account).await;
    }
    admit(&store, account).await.unwrap();
    assert!((6..=11).contains(&counted(&store, account).await));
}

/// A server of HTTP may have a runtime for each of its threads.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_outlives_the_runtime_of_the_request_that_made_it() {
    let server = server();
    let (store, account) = (Arc::new(open(&server.url(0))), samples::id());
    let first = Arc::clone(&store);
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(admit(&first, account)).unwrap();
    });
    thread.join().unwrap();
    admit(&store, account).await.unwrap();
    assert_eq!(counted(&store, account).await, 2);
}

/// A caller may leave at any time; the next one finds a connection that works, and not its answer.
#[tokio::test]
async fn callers_that_leave_disturb_nobody() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    for patience in 0..200 {
        let _ = tokio::time::timeout(Duration::from_micros(patience), admit(&store, account)).await;
        let other = samples::id();
        admit(&store, other).await.unwrap();
        assert_eq!(counted(&store, other).await, 1);
    }
    let connections = server.command(&["INFO", "stats"]);
    let connections = connections.lines().find(|line| line.starts_with("total_connections_received:"));
    // Ours, the one that asks, and those that found out whether the server is up.
    let number: u32 = connections.unwrap().trim().rsplit(':').next().unwrap().parse().unwrap();
    assert!(number < 20, "{number}");
}

/// As the checks of a node without requests are: they leave long before the store's own time limit.
#[tokio::test]
async fn a_connection_that_hangs_is_replaced_also_if_no_caller_waits_for_the_time_limit() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let long = Duration::from_mins(1);
    let (store, account) = (open_with_time_limit(&server.url_through(&proxy, 0), long), samples::id());
    admit(&store, account).await.unwrap();
    assert_eq!(proxy.connections(), 1);
    proxy.set(Behaviour::BlackHole);
    for _ in 0..3 {
        timeout(Duration::from_millis(50), admit(&store, account)).await.unwrap_err();
    }
    let start = Instant::now();
    while proxy.connections() < 2 {
        assert!(start.elapsed() < SOON, "no other connection was tried");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The callers are less patient than a handshake and a call together, and a connection comes to be nevertheless.
#[tokio::test]
async fn a_connection_that_is_made_slowly_is_there_for_the_next_caller() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let to_client = Duration::from_millis(150);
    proxy.set(Behaviour::Delay { to_server: Duration::ZERO, to_client });
    let (store, account) = (open(&server.url_through(&proxy, 0)), samples::id());
    let patience = Duration::from_millis(250);
    timeout(patience, admit(&store, account)).await.unwrap_err();
    let mut is_admitted = false;
    for _ in 0..4 {
        is_admitted |= matches!(timeout(patience, admit(&store, account)).await, Ok(Ok(())));
    }
    assert!(is_admitted);
}
