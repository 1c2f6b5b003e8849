//! Counting what sessions and users do in a calendar minute (D76, D77).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use signpost_domain::{QuotaWindow, Timestamp};

/// The counts of this minute. It forgets all of them when the minute ends, so its size is bounded by the sessions or users
/// that were there in one minute.
#[derive(Debug)]
pub(crate) struct MinuteCounts<K> {
    per_minute: u32,
    counts: Mutex<Counts<K>>,
}

#[derive(Debug)]
struct Counts<K> {
    minute: Option<Timestamp>,
    of_keys: HashMap<K, u32>,
}

impl<K: Eq + Hash> MinuteCounts<K> {
    /// Allows each key this number in a minute.
    pub(crate) fn new(per_minute: u32) -> Self {
        Self { per_minute, counts: Mutex::new(Counts { minute: None, of_keys: HashMap::new() }) }
    }

    /// Counts one more. Returns the seconds until the minute ends if these are too many.
    pub(crate) fn count(&self, key: K, now: Timestamp) -> Option<u32> {
        let minute = QuotaWindow::Minute.start(now);
        // The lock cannot be poisoned: nothing panics while it is held.
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.minute != Some(minute) {
            *counts = Counts { minute: Some(minute), of_keys: HashMap::new() };
        }
        let count = counts.of_keys.entry(key).or_default();
        *count = count.saturating_add(1);
        (*count > self.per_minute).then(|| QuotaWindow::Minute.resets_in_seconds(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d76_each_session_has_its_number_of_requests_a_minute() {
        let requests = MinuteCounts::new(600);
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        for _ in 0..600 {
            assert_eq!(requests.count("busy", at(15_000)), None);
        }
        assert_eq!(requests.count("busy", at(15_000)), Some(45));
        assert_eq!(requests.count("other", at(15_000)), None);
        assert_eq!(requests.count("busy", at(60_000)), None);
    }
}
