//! Limits the number of connections, and manages those that wait beyond the limit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::options::door_capacity;

/// The time that every connection at the door gets, however many follow. A health check has sent its head by
/// then, so a crowd does not displace it.
const GRACE: Duration = Duration::from_millis(10);

/// How long a new connection waits for evicted ones to leave. A worker needs no longer than for an answer
/// that fits the socket's buffer. Meanwhile the listener accepts no other connection.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(5);

/// The limit of a listener's connections.
pub(crate) struct ConnectionLimit {
    most: usize,
    taken: AtomicUsize,
    /// The gauge of open connections.
    open: metrics::Gauge,
}

impl ConnectionLimit {
    pub(crate) fn new(most: usize, open: metrics::Gauge) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicUsize::new(0), open })
    }

    /// Issues a permit, if the limit allows.
    pub(crate) fn take(self: &Arc<Self>) -> Option<ConnectionPermit> {
        let taken = self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            (taken < self.most).then_some(taken + 1)
        });
        taken.is_ok().then(|| {
            self.open.increment(1.0);
            ConnectionPermit { limit: Arc::clone(self) }
        })
    }
}

/// The permit of one connection, held until dropped.
pub(crate) struct ConnectionPermit {
    limit: Arc<ConnectionLimit>,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limit.taken.fetch_sub(1, Ordering::AcqRel);
        self.limit.open.decrement(1.0);
    }
}

/// The waiting room of connections without a permit.
pub(crate) struct Door {
    limit: Arc<ConnectionLimit>,
    /// Maximum number of waiting connections.
    most: usize,
    /// A permit for each waiting connection, and for each evicted one that has not left yet.
    permits: Arc<Semaphore>,
    /// The waiting connections, longest wait first. Some may have left.
    waiting: VecDeque<(Instant, Arc<Eviction>)>,
}

#[derive(Debug, Default)]
struct Eviction {
    is_evicted: AtomicBool,
    has_left: AtomicBool,
    waker: AtomicWaker,
}

impl Door {
    pub(crate) fn new(limit: Arc<ConnectionLimit>) -> Self {
        let most = door_capacity(limit.most);
        Self { limit, most, permits: Arc::new(Semaphore::new(2 * most)), waiting: VecDeque::new() }
    }

    /// Admits one more connection, and evicts the one with the longest wait if there are too many. `None` if
    /// too many evicted connections have not left.
    pub(crate) async fn wait(&mut self) -> Option<Waiting> {
        self.waiting.retain(|(_, eviction)| !eviction.has_left.load(Ordering::Acquire));
        if self.waiting.len() >= self.most
            && let Some((came, longest)) = self.waiting.pop_front()
        {
            sleep(GRACE.saturating_sub(came.elapsed())).await;
            longest.is_evicted.store(true, Ordering::Release);
            longest.waker.wake();
        }
        let permit = timeout(LEAVE_TIMEOUT, Arc::clone(&self.permits).acquire_owned()).await.ok()?.ok()?;
        let eviction = Arc::<Eviction>::default();
        self.waiting.push_back((Instant::now(), Arc::clone(&eviction)));
        Some(Waiting { limit: Arc::clone(&self.limit), eviction, _permit: permit })
    }
}

/// A connection at the door.
pub(crate) struct Waiting {
    limit: Arc<ConnectionLimit>,
    eviction: Arc<Eviction>,
    _permit: OwnedSemaphorePermit,
}

impl Waiting {
    /// Ready when the connection is evicted.
    pub(crate) fn poll_evicted(&self, cx: &Context<'_>) -> Poll<()> {
        self.eviction.waker.register(cx.waker());
        if self.eviction.is_evicted.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Issues a permit, if one has become free.
    pub(crate) fn enter(&self) -> Option<ConnectionPermit> {
        self.limit.take()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.eviction.has_left.store(true, Ordering::Release);
    }
}

/// What a connection holds while it lasts.
pub(crate) enum Ticket {
    /// A permit.
    Permit(#[expect(dead_code, reason = "it is held, never read")] ConnectionPermit),
    /// A wait at the door: it may send the head of one request.
    Door(Waiting),
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 80;
    const DOOR_CAPACITY: usize = 16;

    fn full() -> (Door, Vec<ConnectionPermit>) {
        let limit = ConnectionLimit::new(LIMIT, metrics::Gauge::noop());
        let taken = (0..LIMIT).map(|_| limit.take().unwrap()).collect();
        (Door::new(limit), taken)
    }

    #[test]
    fn permits_never_exceed_the_limit() {
        let limit = ConnectionLimit::new(2, metrics::Gauge::noop());
        let (first, second) = (limit.take(), limit.take());
        assert!(first.is_some() && second.is_some() && limit.take().is_none());
        drop(first);
        assert!(limit.take().is_some());
    }

    #[tokio::test]
    async fn new_connection_evicts_the_longest_waiting() {
        let (mut door, _taken) = full();
        let mut waiting = Vec::new();
        for _ in 0..DOOR_CAPACITY {
            waiting.push(door.wait().await.unwrap());
        }
        let is_evicted = |waiting: &Waiting| {
            waiting.poll_evicted(&Context::from_waker(std::task::Waker::noop())).is_ready()
        };
        assert!(!waiting.iter().any(is_evicted));
        let _newcomer = door.wait().await.unwrap();
        assert_eq!(waiting.iter().map(is_evicted).collect::<Vec<_>>(), {
            let mut expected = vec![false; DOOR_CAPACITY];
            expected[0] = true;
            expected
        });
    }

    #[tokio::test]
    async fn connections_that_do_not_leave_are_bounded() {
        let (mut door, _taken) = full();
        let mut stubborn = Vec::new();
        for _ in 0..2 * DOOR_CAPACITY {
            stubborn.push(door.wait().await.unwrap());
        }
        assert!(door.wait().await.is_none());
        drop(stubborn);
        assert!(door.wait().await.is_some());
    }
}
