//! The deadline of the running statement, as functions that SQLite calls see it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The deadline of the running statement. The owner of a connection sets it before a statement, and functions that the
/// statement calls read it. Both run on one thread; it is atomic because SQLite requires its functions to be `Send`.
#[derive(Debug)]
pub(crate) struct Deadline {
    origin: Instant,
    /// Milliseconds after `origin`.
    ends: AtomicU64,
}

impl Deadline {
    /// No deadline.
    pub(crate) fn none() -> Self {
        Self { origin: Instant::now(), ends: AtomicU64::new(u64::MAX) }
    }

    /// Sets the deadline of later statements.
    pub(crate) fn set(&self, ends: Instant) {
        self.ends.store(millis(ends.saturating_duration_since(self.origin)), Ordering::Relaxed);
    }

    /// Whether the deadline has passed.
    pub(crate) fn has_passed(&self) -> bool {
        millis(self.origin.elapsed()) > self.ends.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
