//! Until when the statement that runs on a connection may go on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An instant that the owner of a connection sets before a statement, and that functions called by the statement look
/// at. Both run on the same thread; the atomic is there because SQLite's functions must be movable between threads.
#[derive(Debug)]
pub(crate) struct Deadline {
    origin: Instant,
    /// Milliseconds after `origin`.
    ends: AtomicU64,
}

impl Deadline {
    /// No end yet.
    pub(crate) fn none() -> Self {
        Self { origin: Instant::now(), ends: AtomicU64::new(u64::MAX) }
    }

    /// From now on, statements may go on until then.
    pub(crate) fn set(&self, ends: Instant) {
        self.ends.store(millis(ends.saturating_duration_since(self.origin)), Ordering::Relaxed);
    }

    /// Whether it is over.
    pub(crate) fn has_passed(&self) -> bool {
        millis(self.origin.elapsed()) > self.ends.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
