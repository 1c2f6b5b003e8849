//! Manages the connections that wait beyond the limit.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::connection_limit::{ConnectionLimit, ConnectionPermit, Full};
use crate::options::door_capacity;

/// The time that every connection at the door gets, however many follow. A health check has sent its head by
/// then, so a crowd does not displace it.
const GRACE: Duration = Duration::from_millis(10);

/// How long a new connection waits for evicted ones to leave. A worker needs no longer than for an answer
/// that fits the socket's buffer. Meanwhile the listener accepts no other connection.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(5);

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
        let most = door_capacity(limit.most());
        Self { limit, most, permits: Arc::new(Semaphore::new(2 * most)), waiting: VecDeque::new() }
    }

    /// Admits one more connection, and evicts the one with the longest wait if there are too many. `None` if
    /// too many evicted connections have not left.
    pub(crate) async fn wait(&mut self, peer: IpAddr) -> Option<Waiting> {
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
        Some(Waiting { limit: Arc::clone(&self.limit), peer, eviction, _permit: permit })
    }
}

/// A connection at the door.
pub(crate) struct Waiting {
    limit: Arc<ConnectionLimit>,
    peer: IpAddr,
    eviction: Arc<Eviction>,
    _permit: OwnedSemaphorePermit,
}

impl Waiting {
    /// Ready when the connection is evicted.
    pub(crate) fn poll_evicted(&self, cx: &Context<'_>) -> Poll<()> {
        self.eviction.waker.register(cx.waker());
        if self.eviction.is_evicted.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Makes the permit, if there will be one, that of another peer.
    const fn move_to(&mut self, peer: IpAddr) {
        self.peer = peer;
    }

    /// Issues a permit, if one has become free.
    pub(crate) fn enter(&self) -> Option<ConnectionPermit> {
        self.limit.take(self.peer).ok()
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
    Permit(ConnectionPermit),
    /// A wait at the door: it may send the head of one request.
    Door(Waiting),
}

impl Ticket {
    /// Counts the connection for another peer from now on.
    ///
    /// # Errors
    /// The peer holds its share, and the ticket stays what it was.
    pub(crate) fn move_to(&mut self, peer: IpAddr) -> Result<(), Full> {
        match self {
            Self::Permit(permit) => permit.move_to(peer),
            Self::Door(waiting) => {
                waiting.move_to(peer);
                Ok(())
            }
        }
    }

    /// Ready when the connection is at the door and evicted.
    pub(crate) fn poll_evicted(&self, cx: &Context<'_>) -> Poll<()> {
        match self {
            Self::Permit(_) => Poll::Pending,
            Self::Door(waiting) => waiting.poll_evicted(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Proxies;

    const LIMIT: usize = 80;
    const DOOR_CAPACITY: usize = 16;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn full() -> (Door, Vec<ConnectionPermit>) {
        let limit = ConnectionLimit::new(LIMIT, LIMIT, Proxies::new(|_| true), metrics::Gauge::noop());
        let taken = (0..LIMIT).map(|_| limit.take(PEER).unwrap()).collect();
        (Door::new(limit), taken)
    }

    #[tokio::test]
    async fn new_connection_evicts_the_longest_waiting() {
        let (mut door, _taken) = full();
        let mut waiting = Vec::new();
        for _ in 0..DOOR_CAPACITY {
            waiting.push(door.wait(PEER).await.unwrap());
        }
        let is_evicted = |waiting: &Waiting| {
            waiting.poll_evicted(&Context::from_waker(std::task::Waker::noop())).is_ready()
        };
        assert!(!waiting.iter().any(is_evicted));
        let _newcomer = door.wait(PEER).await.unwrap();
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
            stubborn.push(door.wait(PEER).await.unwrap());
        }
        assert!(door.wait(PEER).await.is_none());
        drop(stubborn);
        assert!(door.wait(PEER).await.is_some());
    }
}
