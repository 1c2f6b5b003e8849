//! Counting the requests of each session in a calendar minute (D76).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use signpost_domain::{QuotaWindow, SessionId, Timestamp};

/// How many requests a session may make in a minute on this node.
const PER_MINUTE: u32 = 600;

/// The requests of this minute. It forgets all sessions when a minute ends, so its size is bounded by the sessions that were
/// used in one minute.
#[derive(Debug, Default)]
pub(crate) struct SessionRequests(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    minute: Option<Timestamp>,
    of_sessions: HashMap<SessionId, u32>,
}

impl SessionRequests {
    /// Counts a request. Returns the seconds until the minute ends if the session has made too many.
    pub(crate) fn count(&self, session: SessionId, now: Timestamp) -> Option<u32> {
        let minute = QuotaWindow::Minute.start(now);
        // The lock cannot be poisoned: nothing panics while it is held.
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.minute != Some(minute) {
            *counts = Counts { minute: Some(minute), of_sessions: HashMap::new() };
        }
        let count = counts.of_sessions.entry(session).or_default();
        *count = count.saturating_add(1);
        (*count > PER_MINUTE).then(|| QuotaWindow::Minute.resets_in_seconds(now))
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::Id;

    use super::*;

    #[test]
    fn d76_a_session_makes_600_requests_a_minute() {
        let (requests, busy, other) =
            (SessionRequests::default(), Id::from_bytes([1; 16]), Id::from_bytes([2; 16]));
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        for _ in 0..600 {
            assert_eq!(requests.count(busy, at(15_000)), None);
        }
        assert_eq!(requests.count(busy, at(15_000)), Some(45));
        assert_eq!(requests.count(other, at(15_000)), None);
        assert_eq!(requests.count(busy, at(60_000)), None);
    }
}
