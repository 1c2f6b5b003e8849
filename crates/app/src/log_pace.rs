//! Limiting how often a warning that requests can cause is logged.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use signpost_domain::Timestamp;

/// Lets one line through in each interval.
#[derive(Debug)]
pub struct LogPace {
    interval: Duration,
    /// The earliest Unix time of the next log line, in milliseconds.
    next: AtomicI64,
}

impl LogPace {
    /// A pace at which the first line is due at once.
    #[must_use]
    pub const fn new(interval: Duration) -> Self {
        Self { interval, next: AtomicI64::new(i64::MIN) }
    }

    /// Whether a line would be due now.
    #[must_use]
    pub fn may_be_due(&self, now: Timestamp) -> bool {
        self.next.load(Ordering::Relaxed) <= now.unix_millis()
    }

    /// Whether a line may be logged now. Of concurrent calls one gets `true`.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let now = now.unix_millis();
        let next = self.next.load(Ordering::Relaxed);
        let later = now.saturating_add(self.interval.as_millis().try_into().unwrap_or(i64::MAX));
        next <= now && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// How many subjects [`LogPaces`] remembers, so that a flood of subjects cannot fill the memory.
const MAX_SUBJECTS: usize = 1_000;

/// Lets one line about each subject through in each interval. While too many subjects had their line within the interval,
/// further ones get none.
#[derive(Debug)]
pub(crate) struct LogPaces<S> {
    interval: Duration,
    last: Mutex<HashMap<S, Timestamp>>,
}

impl<S: Clone + Eq + Hash> LogPaces<S> {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, last: Mutex::default() }
    }

    /// Whether a line about this subject may be logged now.
    pub(crate) fn is_due(&self, subject: &S, now: Timestamp) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back must not silence a subject for longer than the interval.
        let is_recent = |at: Timestamp| at <= now && now < at.plus(self.interval);
        if last.get(subject).is_some_and(|at| is_recent(*at)) {
            return false;
        }
        if last.len() >= MAX_SUBJECTS && !last.contains_key(subject) {
            last.retain(|_, at| is_recent(*at));
            if last.len() >= MAX_SUBJECTS {
                return false;
            }
        }
        last.insert(subject.clone(), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_has_a_line_in_each_interval() {
        let at = |secs| Timestamp::EPOCH.plus(Duration::from_secs(secs));
        let paces = LogPaces::new(Duration::from_mins(1));
        let due: Vec<_> = [("a", 100), ("b", 100), ("a", 159), ("a", 160), ("b", 161), ("a", 90), ("a", 91)]
            .map(|(subject, secs)| paces.is_due(&subject, at(secs)))
            .into();
        assert_eq!(due, [true, true, false, true, true, true, false]);
    }

    #[test]
    fn only_so_many_subjects_are_remembered() {
        let at = |secs| Timestamp::EPOCH.plus(Duration::from_secs(secs));
        let paces = LogPaces::new(Duration::from_mins(1));
        let lines = (0..MAX_SUBJECTS * 2).filter(|subject| paces.is_due(subject, at(0))).count();
        assert_eq!(lines, MAX_SUBJECTS);
        assert!(paces.is_due(&(MAX_SUBJECTS * 2), at(60)), "the others are forgotten");
        assert_eq!(paces.last.lock().unwrap().len(), 1);
    }

    #[test]
    fn one_line_is_due_in_each_interval() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        let pace = LogPace::new(Duration::from_mins(1));
        let due: Vec<_> =
            [0, 1, 59_999, 60_000, 60_001, 500_000].map(|millis| pace.is_due(at(millis))).into();
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
