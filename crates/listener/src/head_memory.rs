//! The memory that the unfinished heads of a listener hold.
//!
//! Clients may send a head slowly, and there are thousands of connections. Without a common bound, clients that never finish
//! their heads could hold [`MAX_HEAD_BYTES`](crate::MAX_HEAD_BYTES) on each.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first bytes of a head do not count. Most heads are smaller, so they need no room.
const SMALL_HEAD_BYTES: usize = 4 * 1024;

/// How many bytes the unfinished heads of all connections may still take.
#[derive(Debug)]
pub(crate) struct HeadMemory {
    left: AtomicUsize,
}

impl HeadMemory {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { left: AtomicUsize::new(bytes) })
    }

    /// The part of a new connection, which holds nothing.
    pub(crate) fn share(self: &Arc<Self>) -> HeadShare {
        HeadShare { memory: Arc::clone(self), held: Cell::new(0) }
    }
}

/// The part of one connection. Dropping it gives everything back.
#[derive(Debug)]
pub(crate) struct HeadShare {
    memory: Arc<HeadMemory>,
    held: Cell<usize>,
}

impl HeadShare {
    /// Whether the connection may hold `bytes` of an unfinished head. If so, they are counted.
    pub(crate) fn hold(&self, bytes: usize) -> bool {
        let held = self.held.get();
        let more = bytes.saturating_sub(SMALL_HEAD_BYTES).saturating_sub(held);
        let take = |left: usize| left.checked_sub(more);
        let is_held =
            more == 0 || self.memory.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if is_held {
            self.held.set(held + more);
        }
        is_held
    }

    /// Gives everything back: the head is complete.
    pub(crate) fn release(&self) {
        let held = self.held.replace(0);
        if held > 0 {
            self.memory.left.fetch_add(held, Ordering::Relaxed);
        }
    }
}

impl Drop for HeadShare {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_heads_share_a_bound_and_small_heads_do_not_count() {
        let memory = HeadMemory::new(10_000);
        let [one, two, three] = [(); 3].map(|()| memory.share());
        assert!(one.hold(SMALL_HEAD_BYTES + 6_000) && one.hold(5) && one.hold(SMALL_HEAD_BYTES + 7_000));
        assert!(!two.hold(SMALL_HEAD_BYTES + 3_001));
        assert!(two.hold(SMALL_HEAD_BYTES + 3_000) && three.hold(SMALL_HEAD_BYTES));
        assert!(!three.hold(SMALL_HEAD_BYTES + 1));
        one.release();
        assert!(three.hold(SMALL_HEAD_BYTES + 7_000));
        drop(three);
        assert!(one.hold(SMALL_HEAD_BYTES + 7_000));
    }
}
