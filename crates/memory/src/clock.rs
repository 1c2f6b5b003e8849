//! A clock that only moves when it is set.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use signpost_app::ports::Clock;
use signpost_domain::Timestamp;

/// A clock that tests set. It may step back, like real ones.
///
/// ```
/// # use std::time::Duration;
/// # use signpost_app::ports::Clock;
/// # use signpost_memory::ManualClock;
/// let clock = ManualClock::default();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(clock.now(), before.plus(Duration::from_secs(1)));
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

/// 2026-01-31T09:05:07.042Z: in the middle of a minute and of a day.
const START_MILLIS: i64 = 1_769_850_307_042;

impl ManualClock {
    /// A clock at `now`.
    #[must_use]
    pub const fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.unix_millis()))
    }

    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.unix_millis(), Ordering::SeqCst);
    }

    /// Moves the time forward.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().plus(by));
    }

    /// Moves the time back.
    pub fn step_back(&self, by: Duration) {
        self.set(self.now().minus(by));
    }
}

/// Starts at 2026-01-31T09:05:07.042Z.
impl Default for ManualClock {
    fn default() -> Self {
        Self(AtomicI64::new(START_MILLIS))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        // Only timestamps are stored, so this conversion always succeeds.
        Timestamp::from_unix_millis(self.0.load(Ordering::SeqCst)).unwrap_or(Timestamp::EPOCH)
    }
}
