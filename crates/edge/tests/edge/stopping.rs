//! Stopping (D64).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use signpost_port_contracts::samples;

use crate::harness::{Edge, HOST};

/// A stop that waits for a connection waits for 30 seconds.
const AT_MOST: Duration = Duration::from_secs(25);

#[tokio::test(flavor = "multi_thread")]
async fn d64_graceful_stop_closes_idle_connections_and_the_listener() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    let mut idle = edge.connect();
    idle.write_all(format!("GET /sale HTTP/1.1\r\nHost: {HOST}\r\n\r\n").as_bytes()).unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 302");
    let start = Instant::now();
    edge.server.stop(true).await.unwrap();
    assert!(start.elapsed() < AT_MOST, "{:?}", start.elapsed());
    assert!(TcpStream::connect(edge.address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn d64_draining_node_answers_and_closes_the_connection() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    edge.app.lifecycle.begin_draining();
    // The request has no `Connection: close`, so the server decides to close.
    let answer = edge.send(format!("GET /sale HTTP/1.1\r\nHost: {HOST}\r\n\r\n").as_bytes());
    assert_eq!(answer.status, 302);
    assert_eq!(answer.header("connection"), Some("close"));
}

#[tokio::test(flavor = "multi_thread")]
async fn d64_immediate_stop_waits_for_no_connection() {
    let edge = Edge::start().await;
    let mut half = edge.connect();
    half.write_all(b"GET /sale HTTP/1.1\r\n").unwrap();
    let start = Instant::now();
    edge.server.stop(false).await.unwrap();
    assert!(start.elapsed() < AT_MOST, "{:?}", start.elapsed());
}
