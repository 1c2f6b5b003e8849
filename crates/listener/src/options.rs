//! The options of a listener.

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::tls::TlsOptions;

/// The options of a listener.
#[derive(Debug, Clone)]
pub struct ListenerOptions {
    /// The name in logs, in metrics and in thread names.
    pub name: &'static str,
    /// Number of threads that answer requests.
    pub workers: NonZeroUsize,
    /// Maximum number of concurrent connections.
    pub connections: usize,
    /// The paths that are answered even beyond the connection limit. A connection beyond it may send the head
    /// of one request: it gets its answer if this returns `true`, and otherwise a 503.
    pub door: fn(path: &str) -> bool,
    /// The peers that may hold any number of the connections, such as a proxy in front of the listener. Any other address may
    /// hold half of them; an IPv6 address counts with its /64 network.
    pub proxies: Proxies,
    /// Whether raw bytes that a URI cannot hold, such as `ü` and `"`, are percent-encoded in request targets. Otherwise such
    /// requests are refused. A listener for people encodes them, because people paste links into all kinds of programs.
    pub encodes_targets: bool,
    /// Whether each connection begins with a header of version 2 of the PROXY protocol, which names the client (D197). Only
    /// `proxies` may then connect.
    pub reads_proxy_protocol: bool,
    /// How the listener speaks TLS. `None` is plain HTTP. With TLS there is no [`door`](Self::door): connections beyond the limit
    /// are closed, because an answer would need a handshake first.
    pub tls: Option<TlsOptions>,
    /// The deadlines of connections.
    pub times: Times,
    /// How many bytes the unfinished heads of all connections may hold together. The first 4 KiB of each head do not count. A
    /// head without room gets a 503.
    pub head_memory: usize,
}

impl ListenerOptions {
    /// Room for a thousand heads of the maximum size that arrive at the same time.
    const HEAD_MEMORY: usize = 32 * 1024 * 1024;

    /// Options with the default deadlines, at most 10,000 connections, and no paths answered beyond them.
    #[must_use]
    pub fn new(name: &'static str, workers: NonZeroUsize) -> Self {
        Self {
            name,
            workers,
            connections: 10_000,
            door: |_| false,
            proxies: Proxies::none(),
            encodes_targets: false,
            reads_proxy_protocol: false,
            tls: None,
            times: Times::default(),
            head_memory: Self::HEAD_MEMORY,
        }
    }

    /// Maximum number of open files of a listener with this many connections. It includes connections that
    /// wait at the door, and evicted ones.
    #[must_use]
    pub fn files_for(connections: usize) -> usize {
        connections + 2 * door_capacity(connections)
    }

    /// Maximum number of connections of a listener that may open this many files.
    #[must_use]
    pub fn connections_within(files: usize) -> usize {
        files.saturating_sub(2 * door_capacity(files))
    }
}

/// Which peers are proxies, whose connections belong to many clients.
#[derive(Clone)]
pub struct Proxies(Arc<dyn Fn(IpAddr) -> bool + Send + Sync>);

impl Proxies {
    /// The peers for which `is_proxy` is true.
    pub fn new(is_proxy: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_proxy))
    }

    /// No peer.
    #[must_use]
    pub fn none() -> Self {
        Self::new(|_| false)
    }

    pub(crate) fn contain(&self, peer: IpAddr) -> bool {
        (self.0)(peer)
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxies")
    }
}

/// How many connections beyond `connections` may send a head. A further one evicts the longest waiting: a
/// health check sends its head at once, unlike clients that only hold connections.
pub(crate) fn door_capacity(connections: usize) -> usize {
    (connections / 10).clamp(16, 32)
}

/// The deadlines of a connection. They are accurate to a quarter of the shortest, and to half a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long a connection may be idle between requests. The default of 75 seconds exceeds the minute of
    /// common load balancers, so that they close first. It is an eighth of that while three quarters of the connections
    /// are taken.
    pub idle: Duration,
    /// How long the head of each request may take from its first byte, and how long a new connection may wait
    /// before it.
    pub head: Duration,
    /// How long the body of each request may take, from when the service first asks for it.
    pub body: Duration,
    /// How long a client may stop reading an answer. Each 4 KiB that it reads extends the time by a second.
    pub stalled: Duration,
    /// How long the listener still reads after the last answer while nothing arrives, so that a client which
    /// still sends can read the answer. In all it reads for at most twice as long.
    pub lingering: Duration,
    /// How long a connection beyond the limit may take to send a head, and how long it may stop reading its
    /// answer.
    pub door: Duration,
    /// How long running requests may take after a graceful stop.
    pub stopping: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(5),
            idle: Duration::from_secs(75),
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            stalled: Duration::from_secs(10),
            lingering: Duration::from_secs(2),
            door: Duration::from_secs(1),
            stopping: Duration::from_secs(30),
        }
    }
}

impl Times {
    /// How often deadlines are checked.
    pub(crate) fn tick(&self) -> Duration {
        let Self { handshake, idle, head, body, stalled, lingering, door, stopping } = *self;
        let shortest = [handshake, idle, head, body, stalled, lingering, door, stopping].into_iter().min();
        (shortest.unwrap_or_default() / 8).clamp(Duration::from_millis(1), Duration::from_millis(250))
    }
}
