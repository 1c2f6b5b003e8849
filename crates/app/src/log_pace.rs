//! Limiting how often a warning that requests can cause is logged.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use signpost_domain::Timestamp;

/// Lets one line through in each interval.
#[derive(Debug)]
pub(crate) struct LogPace {
    interval: Duration,
    /// The earliest Unix time of the next log line, in milliseconds.
    next: AtomicI64,
}

impl LogPace {
    pub(crate) const fn new(interval: Duration) -> Self {
        Self { interval, next: AtomicI64::new(i64::MIN) }
    }

    /// Whether a line would be due now.
    pub(crate) fn may_be_due(&self, now: Timestamp) -> bool {
        self.next.load(Ordering::Relaxed) <= now.unix_millis()
    }

    /// Whether a line may be logged now. Of concurrent calls one gets `true`.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let now = now.unix_millis();
        let next = self.next.load(Ordering::Relaxed);
        let later = now.saturating_add(self.interval.as_millis().try_into().unwrap_or(i64::MAX));
        next <= now && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_due_in_each_interval() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        let pace = LogPace::new(Duration::from_mins(1));
        let due: Vec<_> =
            [0, 1, 59_999, 60_000, 60_001, 500_000].map(|millis| pace.is_due(at(millis))).into();
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
