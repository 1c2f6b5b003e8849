//! Deleting remembered answers and entries of the change log that are too old.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use signpost_domain::Timestamp;

use super::{Job, Progress};
use crate::app_error::AppError;
use crate::changes::CHANGES_KEPT;
use crate::ports::{Clock, Store};

/// How many answers one step deletes.
const ANSWERS_AT_ONCE: u16 = 1_000;

/// Deletes remembered answers after their 24 hours (D12), so that they do not grow without bound.
///
/// Whether a request repeats an earlier one is decided when it arrives. So the deletion may be late, but must not be early:
/// a repeated request would take effect twice.
pub struct ForgetAnswers {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    readings: Mutex<Readings>,
}

/// Readings of a clock that may be wrong for a while (R22).
#[derive(Debug, Default)]
struct Readings {
    /// A reading that is not confirmed yet, and when it was taken.
    new: Option<(Timestamp, Instant)>,
    confirmed: Option<Timestamp>,
}

impl Readings {
    /// How long a reading must be true before it counts.
    const WAIT: Duration = Duration::from_mins(30);

    /// Adds a reading. Returns the latest one that is older than [`WAIT`](Self::WAIT) and that no later one has contradicted.
    fn add(&mut self, now: Timestamp, instant: Instant) -> Option<Timestamp> {
        self.confirmed = self.confirmed.map(|confirmed| confirmed.min(now));
        let (time, taken) = self.new.map_or((now, instant), |(time, taken)| (time.min(now), taken));
        if instant.saturating_duration_since(taken) >= Self::WAIT {
            self.confirmed = Some(time);
            self.new = Some((now, instant));
        } else {
            self.new = Some((time, taken));
        }
        self.confirmed
    }
}

impl ForgetAnswers {
    /// The job for this store and clock.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, readings: Mutex::default() }
    }
}

#[async_trait]
impl Job for ForgetAnswers {
    fn name(&self) -> &'static str {
        "forget-answers"
    }

    fn period(&self) -> Duration {
        Duration::from_hours(1)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        // The lock cannot be poisoned: nothing panics while it is held.
        let confirmed = self
            .readings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(self.clock.now(), self.clock.instant());
        let Some(time) = confirmed else { return Ok(Progress::Done) };
        let forgotten = self.store.forget_answers(time, ANSWERS_AT_ONCE).await?;
        Ok(if forgotten < ANSWERS_AT_ONCE { Progress::Done } else { Progress::More })
    }
}

/// How many entries of the change log one step deletes.
const CHANGES_AT_ONCE: u32 = 1_000;

/// Deletes old entries of the change log, so that it does not grow without bound.
pub struct ForgetChanges {
    store: Arc<dyn Store>,
}

impl ForgetChanges {
    /// The job for this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl Job for ForgetChanges {
    fn name(&self) -> &'static str {
        "forget-changes"
    }

    fn period(&self) -> Duration {
        Duration::from_mins(1)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let forgotten = self.store.forget_changes(CHANGES_KEPT, CHANGES_AT_ONCE).await?;
        Ok(if forgotten < u64::from(CHANGES_AT_ONCE) { Progress::Done } else { Progress::More })
    }
}
