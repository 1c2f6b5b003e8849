//! Logs store outages without flooding the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Minimum time between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// Paces the log lines about failures of the store, to one a second. Thousands of requests may fail during an outage.
#[derive(Debug, Default)]
pub struct OutageLog(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last_line: Option<Instant>,
    unlogged: u64,
}

impl OutageLog {
    /// Notes a failure. If a line is due, `write` logs it; it gets the number of failures since the last line.
    pub fn note(&self, write: impl FnOnce(u64)) {
        if let Some(unlogged) = self.due(Instant::now()) {
            write(unlogged);
        }
    }

    /// Whether a line is due, and how many failures were not logged since the last line.
    fn due(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last_line.is_some_and(|last| now.duration_since(last) < INTERVAL) {
            state.unlogged = state.unlogged.saturating_add(1);
            return None;
        }
        state.last_line = Some(now);
        Some(std::mem::take(&mut state.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_counts_all_failures() {
        let log = OutageLog::default();
        let start = Instant::now();
        assert_eq!(log.due(start), Some(0));
        assert_eq!(log.due(start + Duration::from_millis(1)), None);
        assert_eq!(log.due(start + Duration::from_millis(999)), None);
        assert_eq!(log.due(start + Duration::from_secs(1)), Some(2));
        assert_eq!(log.due(start + Duration::from_secs(9)), Some(0));
    }
}
