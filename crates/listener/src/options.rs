//! How a listener runs.

use std::num::NonZeroUsize;
use std::time::Duration;

/// How a listener runs.
#[derive(Debug, Clone)]
pub struct ListenerOptions {
    /// What the listener is called in logs, in metrics and in the names of its threads.
    pub name: &'static str,
    /// How many threads answer requests.
    pub workers: NonZeroUsize,
    /// How many connections it holds at once, at most.
    pub connections: usize,
    /// Which paths are answered even when all connections are taken. Beyond the bound, a connection may send the head
    /// of one request: a path for which this is `true` gets its answer, every other one a 503.
    pub door: fn(path: &str) -> bool,
    /// The deadlines of its connections.
    pub times: Times,
}

impl ListenerOptions {
    /// Options with the usual deadlines, at most 10,000 connections, and nothing answered beyond them.
    #[must_use]
    pub fn new(name: &'static str, workers: NonZeroUsize) -> Self {
        Self { name, workers, connections: 10_000, door: |_| false, times: Times::default() }
    }

    /// How many files a listener with this many connections may have open at once, at most: those who wait at the door,
    /// and those who are about to leave it, count too.
    #[must_use]
    pub fn files_for(connections: usize) -> usize {
        connections + 2 * door_places(connections)
    }

    /// How many connections a listener may have so that it keeps to this many files.
    #[must_use]
    pub fn connections_within(files: usize) -> usize {
        files.saturating_sub(2 * door_places(files))
    }
}

/// How many connections beyond `connections` may send a head. When one more comes, the one that waits longest must go: a
/// health check sends its head at once, and whoever only holds connections does not.
pub(crate) fn door_places(connections: usize) -> usize {
    (connections / 10).clamp(16, 32)
}

/// The deadlines of a connection. They are kept to within a quarter of the shortest, and to within half a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How long a connection may be idle between two requests. 75 seconds: longer than the minute that common load
    /// balancers keep theirs, so that it is they who close.
    pub idle: Duration,
    /// How long the head of each request may take, from its first byte; and how long a new connection may wait before it.
    pub head: Duration,
    /// How long the body of each request may take, from when the service first asks for it.
    pub body: Duration,
    /// How long a client may take nothing of an answer that waits for it. What it takes buys it more time, at 4 KiB a
    /// second.
    pub stalled: Duration,
    /// How long a connection is still read from after its last answer while nothing comes, so that a client which is still
    /// sending gets to read that answer. In all it is twice as long at most.
    pub lingering: Duration,
    /// How long a connection beyond the bound may take to send a head, and how long it may take nothing of its answer.
    pub door: Duration,
    /// How long a graceful stop lets running requests go on.
    pub stopping: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
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
    /// How often deadlines are looked at.
    pub(crate) fn tick(&self) -> Duration {
        let Self { idle, head, body, stalled, lingering, door, stopping } = *self;
        let shortest = [idle, head, body, stalled, lingering, door, stopping].into_iter().min();
        (shortest.unwrap_or_default() / 8).clamp(Duration::from_millis(1), Duration::from_millis(250))
    }
}
