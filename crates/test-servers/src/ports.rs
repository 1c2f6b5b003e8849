//! Ports that nobody listens on.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that connections get by themselves: one of those could take the port of a server that is stopped
/// for a while, or, on a system that lets it, be connected to itself.
const FIRST: u16 = 15_000;
/// How many there are.
const COUNT: u16 = 15_000;

/// A port of the loopback interface that is free now. It may be taken before a server comes to it, so starting one is
/// tried more than once.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test binaries that run at the same time begin at different places.
    let begin = u16::try_from(std::process::id() % 250).unwrap() * 60;
    let _ = NEXT.compare_exchange(0, begin + 1, Ordering::Relaxed, Ordering::Relaxed);
    (0..COUNT)
        .map(|_| FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}
