//! How many connections there may be, and who waits when there are more.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::options::door_places;

/// How long everybody at the door may stay, however many come after. A health check has sent its head by then, and is
/// not swept away by a crowd.
const GRACE: Duration = Duration::from_millis(10);

/// How long a newcomer waits for those who were sent away to leave. It takes a worker no more than an answer that fits into
/// the socket's buffer; meanwhile nobody else is accepted.
const LEAVING_TIME: Duration = Duration::from_millis(5);

/// The places of all connections of a listener.
pub(crate) struct Places {
    most: usize,
    taken: AtomicUsize,
    /// Shows how many are taken.
    open: metrics::Gauge,
}

impl Places {
    pub(crate) fn new(most: usize, open: metrics::Gauge) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicUsize::new(0), open })
    }

    /// A place, if one is free.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Place> {
        let taken = self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            (taken < self.most).then_some(taken + 1)
        });
        taken.is_ok().then(|| {
            self.open.increment(1.0);
            Place { places: Arc::clone(self) }
        })
    }
}

/// The place of one connection, until it is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken.fetch_sub(1, Ordering::AcqRel);
        self.places.open.decrement(1.0);
    }
}

/// Where those wait for whom there is no place.
pub(crate) struct Door {
    places: Arc<Places>,
    /// How many may wait.
    most: usize,
    /// A permit for each who waits, and for each who was sent away and has not left yet.
    permits: Arc<Semaphore>,
    /// Those who came, the longest waiting first. Some may have left.
    waiting: VecDeque<(Instant, Arc<Notice>)>,
}

#[derive(Debug, Default)]
struct Notice {
    must_go: AtomicBool,
    has_left: AtomicBool,
    waker: AtomicWaker,
}

impl Door {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        let most = door_places(places.most);
        Self { places, most, permits: Arc::new(Semaphore::new(2 * most)), waiting: VecDeque::new() }
    }

    /// Lets one more wait, and sends away the one who waits longest if there are too many. `None` if too many of those who
    /// were sent away do not leave.
    pub(crate) async fn wait(&mut self) -> Option<Waiting> {
        self.waiting.retain(|(_, notice)| !notice.has_left.load(Ordering::Acquire));
        if self.waiting.len() >= self.most
            && let Some((came, longest)) = self.waiting.pop_front()
        {
            sleep(GRACE.saturating_sub(came.elapsed())).await;
            longest.must_go.store(true, Ordering::Release);
            longest.waker.wake();
        }
        let permit = timeout(LEAVING_TIME, Arc::clone(&self.permits).acquire_owned()).await.ok()?.ok()?;
        let notice = Arc::<Notice>::default();
        self.waiting.push_back((Instant::now(), Arc::clone(&notice)));
        Some(Waiting { places: Arc::clone(&self.places), notice, _permit: permit })
    }
}

/// A connection at the door.
pub(crate) struct Waiting {
    places: Arc<Places>,
    notice: Arc<Notice>,
    _permit: OwnedSemaphorePermit,
}

impl Waiting {
    /// Ready when the connection must go.
    pub(crate) fn poll_must_go(&self, cx: &Context<'_>) -> Poll<()> {
        self.notice.waker.register(cx.waker());
        if self.notice.must_go.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    /// A place among the others, if one has become free.
    pub(crate) fn enter(&self) -> Option<Place> {
        self.places.take()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.notice.has_left.store(true, Ordering::Release);
    }
}

/// What a connection holds for as long as it lasts.
pub(crate) enum Ticket {
    /// A place.
    Place(#[expect(dead_code, reason = "it is held, not read")] Place),
    /// None: it may send the head of one request.
    Door(Waiting),
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 80;
    const DOOR_PLACES: usize = 16;

    fn full() -> (Door, Vec<Place>) {
        let places = Places::new(MOST, metrics::Gauge::noop());
        let taken = (0..MOST).map(|_| places.take().unwrap()).collect();
        (Door::new(places), taken)
    }

    #[test]
    fn no_more_places_are_taken_than_there_are() {
        let places = Places::new(2, metrics::Gauge::noop());
        let (first, second) = (places.take(), places.take());
        assert!(first.is_some() && second.is_some() && places.take().is_none());
        drop(first);
        assert!(places.take().is_some());
    }

    #[tokio::test]
    async fn the_longest_waiting_leaves_the_door_for_a_newcomer() {
        let (mut door, _taken) = full();
        let mut waiting = Vec::new();
        for _ in 0..DOOR_PLACES {
            waiting.push(door.wait().await.unwrap());
        }
        let must_go = |waiting: &Waiting| {
            waiting.poll_must_go(&Context::from_waker(std::task::Waker::noop())).is_ready()
        };
        assert!(!waiting.iter().any(must_go));
        let _newcomer = door.wait().await.unwrap();
        assert_eq!(waiting.iter().map(must_go).collect::<Vec<_>>(), {
            let mut expected = vec![false; DOOR_PLACES];
            expected[0] = true;
            expected
        });
    }

    #[tokio::test]
    async fn those_who_do_not_leave_do_not_pile_up() {
        let (mut door, _taken) = full();
        let mut stubborn = Vec::new();
        for _ in 0..2 * DOOR_PLACES {
            stubborn.push(door.wait().await.unwrap());
        }
        assert!(door.wait().await.is_none());
        drop(stubborn);
        assert!(door.wait().await.is_some());
    }
}
