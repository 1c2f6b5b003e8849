//! How busy the connections of a store are, for the metrics.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How busy one pool of connections, or of threads with a connection each, is at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUsage {
    /// The pool's name in the metrics.
    pub pool: &'static str,
    /// Connections that do something for a caller.
    pub in_use: usize,
    /// Open connections that do nothing.
    pub idle: usize,
    /// The most connections that the pool may have; `None` if it has one for each runtime.
    pub max: Option<usize>,
    /// Callers that wait for a connection or, where they share one, for an answer.
    pub waiting: usize,
}

/// The number of callers that wait for something.
#[derive(Debug, Default)]
pub struct Waiting(AtomicUsize);

impl Waiting {
    /// Counts a caller until the guard is dropped.
    pub fn enter(&self) -> WaitingCaller<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        WaitingCaller(self)
    }

    /// The number of callers that wait now.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// One caller that waits.
#[derive(Debug)]
pub struct WaitingCaller<'a>(&'a Waiting);

impl Drop for WaitingCaller<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_waits_until_its_guard_is_dropped() {
        let waiting = Waiting::default();
        let (one, other) = (waiting.enter(), waiting.enter());
        assert_eq!(waiting.count(), 2);
        drop(one);
        assert_eq!(waiting.count(), 1);
        drop(other);
        assert_eq!(waiting.count(), 0);
    }
}
