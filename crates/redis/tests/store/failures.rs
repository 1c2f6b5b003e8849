//! Servers that are down, silent, or reject calls, and come back. Every call ends within its time limit (D6).

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use signpost_port_contracts::samples;
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};
use tokio::time::timeout;

use crate::opening::{
    AT_LAST, WHO, admit, counted, lasting_server, open, open_with_time_limit, server, unavailable,
};

/// A call that waits for the time limit of [`open`] takes this long; a busy machine does not.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn store_reconnects_to_a_restarted_server() {
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
        // The first call after the last failure opens a new connection.
        store.check().await.unwrap();
        assert_eq!(counted(&store, account).await, restarts + 1);
    }
}

#[tokio::test]
async fn store_opens_before_its_server_is_up() {
    let mut server = server();
    server.kill();
    let (store, account) = (open(&server.url(0)), samples::id());
    unavailable(admit(&store, account).await);
    server.start_again();
    admit(&store, account).await.unwrap();
}

#[tokio::test]
async fn d6_call_to_a_silent_server_ends_at_the_time_limit() {
    let server = server();
    let limit = Duration::from_millis(500);
    let (store, account) = (open_with_time_limit(&server.url(0), limit), samples::id());
    // On a busy machine even an answering server may miss this limit.
    let start = Instant::now();
    while admit(&store, account).await.is_err() {
        assert!(start.elapsed() < AT_LAST);
    }
    server.pause();
    // The first few use the existing connection, the others one that never opens.
    // Calls that join a running attempt share its failure, which may come sooner.
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
        assert!(start.elapsed() < AT_LAST);
    }
}

#[tokio::test]
async fn wrong_password_is_rejected() {
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

/// As after a failover, when the server's name still leads to what is now a replica.
#[tokio::test]
async fn replica_rejects_calls_until_it_is_promoted() {
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
async fn full_server_rejects_calls_and_counts_nothing() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    admit(&store, account).await.unwrap();
    let _ = server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    let message = unavailable(admit(&store, account).await);
    assert!(message.contains("OOM"), "{message}");
    let _ = server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(counted(&store, account).await, 1);
}

/// Redis may be configured to close idle connections. One call may fail then.
#[tokio::test]
async fn connection_closed_by_the_server_is_reopened() {
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

/// An HTTP server may have a runtime for each of its threads.
#[tokio::test(flavor = "multi_thread")]
async fn store_works_after_the_runtime_of_an_earlier_request_ends() {
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

/// A caller may leave at any time. The next one gets a working connection, and not the answer of the first.
#[tokio::test]
async fn cancelled_callers_do_not_disturb_others() {
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
    // Far fewer than one for each caller that left: ours, the one that queries, and a few that a busy machine opened
    // because a caller left late.
    let number: u32 = connections.unwrap().trim().rsplit(':').next().unwrap().parse().unwrap();
    assert!(number < 60, "{number}");
}

/// Like the health checks of an idle node, which leave long before the store's own time limit.
#[tokio::test]
async fn hanging_connection_is_replaced_even_if_callers_leave_early() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let long = Duration::from_mins(1);
    let (store, account) = (open_with_time_limit(&server.url_through(&proxy, 0), long), samples::id());
    admit(&store, account).await.unwrap();
    assert_eq!(proxy.connections(), 1);
    proxy.set(Behaviour::BlackHole);
    let start = Instant::now();
    while proxy.connections() < 2 {
        let _ = timeout(Duration::from_millis(50), admit(&store, account)).await;
        assert!(start.elapsed() < AT_LAST, "no other connection was tried");
    }
}

/// The callers wait for less than a handshake and a call, and the connection opens nevertheless.
#[tokio::test]
async fn slowly_opened_connection_serves_the_next_caller() {
    let server = server();
    let proxy = Proxy::to(server.port());
    let to_client = Duration::from_millis(150);
    proxy.set(Behaviour::Delay { to_server: Duration::ZERO, to_client });
    let (store, account) = (open(&server.url_through(&proxy, 0)), samples::id());
    let patience = Duration::from_millis(250);
    let mut callers = 1;
    // On a busy machine even a call over an open connection may exceed this patience.
    while !matches!(timeout(patience, admit(&store, account)).await, Ok(Ok(()))) {
        assert!(callers < 100, "no caller was admitted");
        callers += 1;
    }
}
