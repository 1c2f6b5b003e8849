//! Whether this node may answer visits from the links in its memory (D58, D63).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The maximum age of the memory in normal operation: every node shows a change within one second (D58).
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Decides how long links in memory may answer visits while the change log cannot be read.
///
/// One instant is valid for all links: the last successful read of the [`ChangeLog`](crate::ports::ChangeLog). All changes
/// that were committed before it have been applied to the links in memory.
#[derive(Debug)]
pub struct LinkMemory {
    stale_limit: Duration,
    created: Instant,
    /// Milliseconds from `created` to the start of the last successful read.
    synced: AtomicU64,
    holds_links: AtomicBool,
}

impl LinkMemory {
    /// An empty memory. Its links may answer for `stale_limit` after the last successful read. With a limit of zero, links
    /// that are older than a second are read from the store again.
    #[must_use]
    pub fn new(stale_limit: Duration) -> Self {
        Self {
            stale_limit,
            // The memory is empty, so it cannot be stale.
            created: Instant::now(),
            synced: AtomicU64::new(0),
            holds_links: AtomicBool::new(false),
        }
    }

    /// Notes that all changes that were committed before `as_of` have been applied.
    pub fn synced(&self, as_of: Instant) {
        self.synced.fetch_max(self.millis(as_of), Ordering::Release);
    }

    /// Whether links in memory may answer visits.
    #[must_use]
    pub fn may_answer(&self, now: Instant) -> bool {
        self.age(now) <= self.stale_limit.max(FRESH_FOR)
    }

    /// Whether the memory is as new as D58 requires in normal operation. Only a fresh memory may report that an address has
    /// no link. During an outage, that answer is a 503.
    #[must_use]
    pub fn is_fresh(&self, now: Instant) -> bool {
        self.age(now) <= FRESH_FOR
    }

    /// Notes whether any link is in memory.
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
    fn d58_links_in_memory_answer_until_the_stale_limit() {
        let memory = LinkMemory::new(15 * MINUTE);
        let start = memory.created;
        assert!(memory.may_answer(start + 15 * MINUTE));
        assert!(!memory.may_answer(start + 15 * MINUTE + Duration::from_millis(1)));
        memory.synced(start + MINUTE);
        assert!(memory.may_answer(start + 16 * MINUTE));
        assert!(!memory.may_answer(start + 16 * MINUTE + Duration::from_millis(1)));
        memory.synced(start);
        assert!(memory.may_answer(start + 16 * MINUTE), "an older read that ends later changes nothing");
    }

    #[test]
    fn d58_a_stale_limit_of_zero_trusts_the_memory_for_a_second() {
        let memory = LinkMemory::new(Duration::ZERO);
        assert!(memory.may_answer(memory.created + FRESH_FOR));
        assert!(!memory.may_answer(memory.created + FRESH_FOR + Duration::from_millis(1)));
    }

    #[test]
    fn d58_the_memory_is_fresh_for_one_second() {
        let memory = LinkMemory::new(15 * MINUTE);
        assert!(memory.is_fresh(memory.created + FRESH_FOR));
        assert!(!memory.is_fresh(memory.created + FRESH_FOR + Duration::from_millis(1)));
    }

    #[test]
    fn d63_an_empty_memory_cannot_serve() {
        let memory = LinkMemory::new(15 * MINUTE);
        assert!(!memory.can_serve(memory.created));
        memory.set_holds_links(true);
        assert!(memory.can_serve(memory.created) && !memory.can_serve(memory.created + 16 * MINUTE));
    }
}
