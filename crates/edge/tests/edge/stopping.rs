//! Stopping (D64).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use signpost_port_contracts::samples;

use crate::harness::{Edge, HOST};

#[tokio::test(flavor = "multi_thread")]
async fn d64_a_graceful_stop_does_not_wait_for_idle_connections_and_then_nothing_listens() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    let mut idle = edge.connect();
    idle.write_all(format!("GET /sale HTTP/1.1\r\nHost: {HOST}\r\n\r\n").as_bytes()).unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 302");
    let start = Instant::now();
    edge.server.stop(true).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert!(TcpStream::connect(edge.address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn d64_while_it_drains_it_answers_and_asks_for_no_more_on_the_connection() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    edge.app.lifecycle.begin_draining();
    // Without `Connection: close` in the request, so that it is the server that closes.
    let answer = edge.send(format!("GET /sale HTTP/1.1\r\nHost: {HOST}\r\n\r\n").as_bytes());
    assert_eq!(answer.status, 302);
    assert_eq!(answer.header("connection"), Some("close"));
}

#[tokio::test(flavor = "multi_thread")]
async fn d64_a_stop_at_once_waits_for_nobody() {
    let edge = Edge::start().await;
    let mut half = edge.connect();
    half.write_all(b"GET /sale HTTP/1.1\r\n").unwrap();
    let start = Instant::now();
    edge.server.stop(false).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}
