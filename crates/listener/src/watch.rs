//! Deadlines of many connections, checked by one task per worker.
//!
//! A timer for each request would cost more than looking up a link. So a connection only notes its deadline.
//! A sweep over all connections, a few times a second, wakes the expired ones.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// The deadline of one connection, and the task to wake.
#[derive(Debug)]
pub(crate) struct Watch {
    deadline: Cell<Option<Instant>>,
    network: IpAddr,
    /// While the connection waits for a request or for the rest of its head: when it began, as a number that counts up.
    waiting_since: Cell<Option<u64>>,
    is_evicted: Cell<bool>,
    /// Whether its TLS handshake has not ended.
    is_in_handshake: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    sweeper: Rc<Sweeper>,
}

/// A watch that ends with its connection.
#[derive(Debug)]
pub(crate) struct Watched {
    watch: Rc<Watch>,
    number: u64,
}

impl Deref for Watched {
    type Target = Watch;

    fn deref(&self) -> &Watch {
        &self.watch
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.sweeper.watches.borrow_mut().remove(&self.number);
    }
}

impl Watch {
    /// Sets the deadline to `time` from now.
    pub(crate) fn set_deadline(&self, time: Duration) {
        // The last sweep may be a tick ago, which must not shorten the deadline.
        self.deadline.set(Some(self.sweeper.now.get() + time + self.sweeper.tick));
    }

    /// Removes the deadline.
    pub(crate) fn clear_deadline(&self) {
        self.deadline.set(None);
    }

    /// Whether the deadline has passed.
    pub(crate) fn is_expired(&self) -> bool {
        self.deadline.get().is_some_and(|deadline| deadline <= self.sweeper.now.get())
    }

    /// Polls the task again when the deadline has passed, or when the listener begins to stop.
    pub(crate) fn wake_later(&self, cx: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        match waker.as_mut() {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
    }

    /// Notes that the connection waits for a request, unless it does already.
    pub(crate) fn begin_waiting(&self) {
        if self.waiting_since.get().is_none() {
            self.waiting_since.set(Some(self.sweeper.next_wait.replace(self.sweeper.next_wait.get() + 1)));
            for none_waits in &self.sweeper.none_waits {
                none_waits.set(false);
            }
        }
    }

    /// Notes that a request has arrived.
    pub(crate) fn end_waiting(&self) {
        self.waiting_since.set(None);
        self.is_evicted.set(false);
    }

    /// Notes that a TLS handshake begins.
    pub(crate) fn begin_handshake(&self) {
        self.is_in_handshake.set(true);
    }

    /// Notes that the handshake has ended.
    pub(crate) fn end_handshake(&self) {
        self.is_in_handshake.set(false);
    }

    /// Whether the connection must make room for another one.
    pub(crate) fn is_evicted(&self) -> bool {
        self.is_evicted.get()
    }

    /// Whether the listener stops and takes no further requests.
    pub(crate) fn is_stopping(&self) -> bool {
        self.sweeper.is_stopping.get()
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}

/// Which of the connections that wait are closed to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Any.
    Any,
    /// Those of one network.
    OfNetwork(IpAddr),
    /// Those in a TLS handshake.
    InHandshake,
}

/// Checks the deadlines of all connections of a worker.
#[derive(Debug)]
pub(crate) struct Sweeper {
    watches: RefCell<BTreeMap<u64, Rc<Watch>>>,
    next_number: Cell<u64>,
    next_wait: Cell<u64>,
    /// Whether no connection was found to close since the last one began to wait: of all, of one network, and in a handshake.
    none_waits: [Cell<bool>; 3],
    is_stopping: Cell<bool>,
    /// The time of the last sweep. Asking the clock for each request would cost as much as finding a link.
    now: Cell<Instant>,
    tick: Duration,
}

impl Sweeper {
    pub(crate) fn new(tick: Duration) -> Rc<Self> {
        Rc::new(Self {
            now: Cell::new(Instant::now()),
            tick,
            watches: RefCell::default(),
            next_number: Cell::new(0),
            next_wait: Cell::new(0),
            none_waits: Default::default(),
            is_stopping: Cell::new(false),
        })
    }

    /// A watch without a deadline, for a connection from this network.
    pub(crate) fn watch(self: &Rc<Self>, network: IpAddr) -> Watched {
        let number = self.next_number.get();
        self.next_number.set(number + 1);
        let watch = Rc::new(Watch {
            network,
            deadline: Cell::new(None),
            waiting_since: Cell::new(None),
            is_evicted: Cell::new(false),
            is_in_handshake: Cell::new(false),
            waker: RefCell::new(None),
            sweeper: Rc::clone(self),
        });
        self.watches.borrow_mut().insert(number, Rc::clone(&watch));
        Watched { watch, number }
    }

    /// Wakes expired connections every tick. It never ends.
    pub(crate) async fn sweep(&self) {
        loop {
            tokio::time::sleep(self.tick).await;
            self.now.set(Instant::now());
            self.wake(Watch::is_expired);
        }
    }

    /// Tells up to `most` of these connections to close: those that have waited longest for a request. Returns how many.
    pub(crate) fn close_waiting(&self, most: usize, which: Waiting) -> usize {
        let [of_all, of_network, in_handshake] = &self.none_waits;
        let none_waits = match which {
            Waiting::Any => of_all,
            Waiting::OfNetwork(_) => of_network,
            Waiting::InHandshake => in_handshake,
        };
        if none_waits.get() {
            // To look at all connections for each new one would cost more than to refuse it.
            return 0;
        }
        let watches = self.watches.borrow();
        let waiting = watches.values().filter(|watch| {
            !watch.is_evicted()
                && match which {
                    Waiting::Any => true,
                    Waiting::OfNetwork(network) => watch.network == network,
                    Waiting::InHandshake => watch.is_in_handshake.get(),
                }
        });
        let mut waiting: Vec<_> =
            waiting.filter_map(|watch| Some((watch.waiting_since.get()?, watch))).collect();
        if let Some(last) = most.checked_sub(1).filter(|last| *last < waiting.len()) {
            waiting.select_nth_unstable_by_key(last, |(since, _)| *since);
        }
        waiting.truncate(most);
        for (_, watch) in &waiting {
            watch.is_evicted.set(true);
            watch.wake();
        }
        none_waits.set(waiting.is_empty());
        waiting.len()
    }

    /// Tells all connections that the listener stops.
    pub(crate) fn stop(&self) {
        self.is_stopping.set(true);
        self.wake(|_| true);
    }

    fn wake(&self, which: impl Fn(&Watch) -> bool) {
        // Waking a task does not run it, so no connection ends during this loop.
        for watch in self.watches.borrow().values() {
            if which(watch) {
                watch.wake();
            }
        }
    }
}
