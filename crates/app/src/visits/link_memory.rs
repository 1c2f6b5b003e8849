//! How far this node may trust the links it has in memory (D58, D63).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How old a node's knowledge may be at most while all is well: a change shows on every node within one second (D58).
const FRESH_FOR: Duration = Duration::from_secs(1);

/// How long links in memory may answer visits when the change log cannot be read.
///
/// One instant stands for all links: that of the last successful read of the [`ChangeLog`](crate::ports::ChangeLog).
/// Everything committed before it has been applied to the links in memory.
#[derive(Debug)]
pub struct LinkMemory {
    stale_limit: Duration,
    created: Instant,
    /// Milliseconds from `created` to the beginning of the last successful read.
    synced: AtomicU64,
    holds_links: AtomicBool,
}

impl LinkMemory {
    /// An empty memory, whose links may answer for `stale_limit` after the last successful read. With zero, links that
    /// are older than a second are read from the store again.
    #[must_use]
    pub fn new(stale_limit: Duration) -> Self {
        Self {
            stale_limit,
            // Nothing is in memory yet, so nothing in it can be old.
            created: Instant::now(),
            synced: AtomicU64::new(0),
            holds_links: AtomicBool::new(false),
        }
    }

    /// All changes that were committed before `as_of` have been applied.
    pub fn synced(&self, as_of: Instant) {
        self.synced.fetch_max(self.millis(as_of), Ordering::Release);
    }

    /// Whether links in memory may answer visits.
    #[must_use]
    pub fn may_answer(&self, now: Instant) -> bool {
        self.age(now) <= self.stale_limit.max(FRESH_FOR)
    }

    /// Whether the memory is as new as D58 asks while the store is there. Only then does it say that nothing is at an
    /// address: during an outage that answer is a 503.
    #[must_use]
    pub fn is_fresh(&self, now: Instant) -> bool {
        self.age(now) <= FRESH_FOR
    }

    /// Whether any link is in memory.
    pub fn set_holds_links(&self, holds_links: bool) {
        if self.holds_links.load(Ordering::Relaxed) != holds_links {
            self.holds_links.store(holds_links, Ordering::Relaxed);
        }
    }

    /// Whether visitors can be served without the store (D63).
    #[must_use]
    pub fn can_serve(&self, now: Instant) -> bool {
        self.holds_links.load(Ordering::Relaxed) && self.may_answer(now)
    }

    fn age(&self, now: Instant) -> Duration {
        Duration::from_millis(self.millis(now).saturating_sub(self.synced.load(Ordering::Acquire)))
    }

    fn millis(&self, instant: Instant) -> u64 {
        u64::try_from(instant.saturating_duration_since(self.created).as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn d58_links_answer_until_the_stale_limit_and_no_longer() {
        let memory = LinkMemory::new(15 * MINUTE);
        let start = memory.created;
        assert!(memory.may_answer(start + 15 * MINUTE));
        assert!(!memory.may_answer(start + 15 * MINUTE + Duration::from_millis(1)));
        memory.synced(start + MINUTE);
        assert!(memory.may_answer(start + 16 * MINUTE));
        assert!(!memory.may_answer(start + 16 * MINUTE + Duration::from_millis(1)));
        memory.synced(start);
        assert!(memory.may_answer(start + 16 * MINUTE), "a read that ends late takes nothing back");
    }

    #[test]
    fn d58_a_stale_limit_of_zero_trusts_the_memory_for_a_second() {
        let memory = LinkMemory::new(Duration::ZERO);
        assert!(memory.may_answer(memory.created + FRESH_FOR));
        assert!(!memory.may_answer(memory.created + FRESH_FOR + Duration::from_millis(1)));
    }

    #[test]
    fn d58_nothing_is_said_to_be_missing_after_a_second() {
        let memory = LinkMemory::new(15 * MINUTE);
        assert!(memory.is_fresh(memory.created + FRESH_FOR));
        assert!(!memory.is_fresh(memory.created + FRESH_FOR + Duration::from_millis(1)));
    }

    #[test]
    fn d63_an_empty_memory_serves_nobody() {
        let memory = LinkMemory::new(15 * MINUTE);
        assert!(!memory.can_serve(memory.created));
        memory.set_holds_links(true);
        assert!(memory.can_serve(memory.created) && !memory.can_serve(memory.created + 16 * MINUTE));
    }
}
