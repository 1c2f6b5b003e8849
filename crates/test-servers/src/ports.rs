//! Free ports.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// The first port. The range is below the ephemeral ports: an outgoing connection could take the port of a stopped server,
/// or on some systems connect to itself.
const FIRST: u16 = 15_000;
/// The number of ports in the range.
const COUNT: u16 = 15_000;

/// A port of the loopback interface that is free now. Another process may take it before a server binds it, so callers
/// retry.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Concurrent test binaries start at different ports.
    let begin = u16::try_from(std::process::id() % 250).unwrap() * 60;
    let _ = NEXT.compare_exchange(0, begin + 1, Ordering::Relaxed, Ordering::Relaxed);
    (0..COUNT)
        .map(|_| FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}
