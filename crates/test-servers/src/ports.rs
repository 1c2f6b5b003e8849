//! Ports that nobody listens on.

use std::net::TcpListener;

/// A port of the loopback interface that is free now. It may be taken before a server comes to it, so starting one is
/// tried more than once.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
