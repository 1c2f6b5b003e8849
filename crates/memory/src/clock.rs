//! A clock that only moves when a test moves it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use signpost_app::ports::Clock;
use signpost_domain::Timestamp;

/// A clock that tests move. Its time of day may jump, like that of real ones.
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
pub struct ManualClock {
    unix_millis: AtomicI64,
    start: Instant,
    /// The milliseconds that have passed since the start, whatever the time of day says.
    passed: AtomicU64,
}

/// 2026-01-31T09:05:07.042Z: in the middle of a minute and of a day.
const START_MILLIS: i64 = 1_769_850_307_042;

impl ManualClock {
    /// A clock at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            unix_millis: AtomicI64::new(now.unix_millis()),
            start: Instant::now(),
            passed: AtomicU64::new(0),
        }
    }

    /// Sets the time of day. No time passes.
    pub fn set(&self, now: Timestamp) {
        self.unix_millis.store(now.unix_millis(), Ordering::SeqCst);
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.passed.fetch_add(by.as_millis().try_into().unwrap_or(u64::MAX), Ordering::SeqCst);
        self.jump_ahead(by);
    }

    /// Moves the time of day forward. No time passes.
    pub fn jump_ahead(&self, by: Duration) {
        self.set(self.now().plus(by));
    }

    /// Moves the time of day back. No time passes.
    pub fn step_back(&self, by: Duration) {
        self.set(self.now().minus(by));
    }
}

/// Starts at 2026-01-31T09:05:07.042Z.
impl Default for ManualClock {
    fn default() -> Self {
        Self::new(Timestamp::from_unix_millis(START_MILLIS).unwrap_or(Timestamp::EPOCH))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        // Only timestamps are stored, so this conversion always succeeds.
        Timestamp::from_unix_millis(self.unix_millis.load(Ordering::SeqCst)).unwrap_or(Timestamp::EPOCH)
    }

    fn instant(&self) -> Instant {
        self.start + Duration::from_millis(self.passed.load(Ordering::SeqCst))
    }
}
