//! Sends the spool to the store, one batch after another.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use signpost_app::node_health::{NodeHealth, Part, WaitingClicks};
use signpost_app::ports::{Appended, ClickStore, Clock, EncodedClicks, StoreError};
use tokio::runtime::Handle;

use crate::reporting::{LogPace, RecorderMetrics};
use crate::spool::{PendingBatch, Spool};

/// Maximum time between two updates of the metrics.
const METRICS_INTERVAL: Duration = Duration::from_secs(1);

/// How often files of dead processes are looked for.
const ADOPT_INTERVAL: Duration = Duration::from_mins(1);

/// The first and the longest pause after a failure.
const MIN_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Wakes the shipper.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<BellState>,
    rung: Condvar,
}

#[derive(Debug, Clone, Copy, Default)]
struct BellState {
    is_rung: bool,
    /// The deadline, once nothing more will arrive.
    end: Option<Instant>,
}

impl Bell {
    /// Reports a new batch in the spool.
    pub(crate) fn ring(&self) {
        self.state().is_rung = true;
        self.rung.notify_one();
    }

    /// Reports that nothing more will arrive in the spool.
    pub(crate) fn end_by(&self, end: Instant) {
        self.state().end = Some(end);
        self.rung.notify_one();
    }

    fn end(&self) -> Option<Instant> {
        self.state().end
    }

    /// Waits for a report of a new batch, if `until_ring`, or for the end.
    fn wait(&self, at_most: Duration, until_ring: bool) {
        let waited = self.rung.wait_timeout_while(self.state(), at_most, |rung| {
            rung.end.is_none() && !(until_ring && rung.is_rung)
        });
        waited.unwrap_or_else(PoisonError::into_inner).0.is_rung = false;
    }

    /// No code panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, BellState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the shipping thread.
pub(crate) struct Shipper {
    pub(crate) spool: Arc<Mutex<Spool>>,
    pub(crate) store: Arc<dyn ClickStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: RecorderMetrics,
    pub(crate) health: Arc<NodeHealth>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) runtime: Handle,
}

/// The result of an attempt to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Sent,
    NothingToSend,
    Failed,
}

impl Shipper {
    /// Sends until the bell reports the end.
    pub(crate) fn run(self) {
        let mut adopted_at: Option<Instant> = None;
        let mut reported_at: Option<Instant> = None;
        let mut outage = Outage::default();
        let is_past = |moment: Option<Instant>, interval| moment.is_none_or(|it| it.elapsed() >= interval);
        loop {
            if is_past(adopted_at, ADOPT_INTERVAL) && self.bell.end().is_none() {
                self.spool().adopt();
                adopted_at = Some(Instant::now());
            }
            let step = self.send_one(&mut outage);
            if is_past(reported_at, METRICS_INTERVAL) || step == Step::NothingToSend {
                self.report_backlog(outage.is_about_reading);
                reported_at = Some(Instant::now());
            }
            match (step, self.bell.end()) {
                (Step::Sent, None) => {}
                (Step::Sent, Some(end)) if Instant::now() < end => {}
                (Step::NothingToSend | Step::Sent, Some(_)) => break,
                (Step::NothingToSend, None) => self.bell.wait(METRICS_INTERVAL, true),
                (Step::Failed, None) => self.bell.wait(outage.pause, false),
                // The next start finds the batches in files. Batches only in memory get another attempt.
                (Step::Failed, Some(end)) => {
                    self.spool().write_memory();
                    if self.spool().backlog().batches_in_memory == 0 || Instant::now() >= end {
                        break;
                    }
                    std::thread::sleep(MIN_PAUSE.min(end.saturating_duration_since(Instant::now())));
                }
            }
        }
        self.spool().close();
    }

    fn send_one(&self, outage: &mut Outage) -> Step {
        let next = self.spool().next();
        outage.is_about_reading = next.is_err();
        let waiting = match next {
            Ok(Some(waiting)) => waiting,
            Ok(None) => return Step::NothingToSend,
            Err(error) => {
                outage.note_failure();
                self.health.fails(Part::ClickSpool, self.clock.now(), &error);
                if outage.log.is_due() {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::error!(%error, cause, "the spool of clicks cannot be read");
                }
                return Step::Failed;
            }
        };
        let appended = self.append(&waiting.batch);
        match self.health.noted(Part::ClickStore, self.clock.now(), appended) {
            Ok(Appended::Now | Appended::Before) => {
                self.metrics.appended();
                if outage.end() {
                    tracing::info!("clicks reach the store again");
                }
                self.spool().forget(waiting);
                Step::Sent
            }
            Ok(Appended::AfterGap) => self.handle_gap(&waiting, outage),
            Err(error) => {
                self.metrics.failed();
                outage.note_failure();
                if outage.log.is_due() {
                    let backlog = self.spool().backlog();
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    let (batches, clicks, bytes) = (backlog.batches, backlog.clicks, backlog.bytes);
                    tracing::warn!(%error, cause, batches, clicks, bytes, "clicks wait in the spool for the store");
                }
                Step::Failed
            }
        }
    }

    /// Appends a batch. During shutdown the deadline limits it.
    fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        let append = self.store.append(batch);
        self.runtime.block_on(async {
            let Some(end) = self.bell.end() else { return append.await };
            let timed = tokio::time::timeout_at(end.into(), append).await;
            timed.unwrap_or_else(|_| Err(StoreError::unavailable("the deadline of the shutdown has passed")))
        })
    }

    /// Handles a gap: the store lacks a batch that this node no longer has. The remaining batches get a new
    /// source, so they still count.
    fn handle_gap(&self, waiting: &PendingBatch, outage: &mut Outage) -> Step {
        self.metrics.gap();
        let number = waiting.batch.number;
        tracing::error!(
            number,
            "the store misses clicks that it had acknowledged, or that were lost with a file of the spool: it may \
             have been restored from a backup"
        );
        match self.spool().renumber_from(waiting) {
            Ok(()) => Step::Sent,
            Err(error) => {
                tracing::error!(%error, "the spool of clicks cannot be written");
                outage.note_failure();
                Step::Failed
            }
        }
    }

    /// `cannot_read`: whether the last attempt could not read the spool.
    fn report_backlog(&self, cannot_read: bool) {
        let mut spool = self.spool();
        let (backlog, oldest) = (spool.backlog(), spool.oldest());
        self.health.clicks_wait(WaitingClicks { clicks: backlog.clicks, bytes: backlog.bytes, oldest });
        let age = oldest.map_or(Duration::ZERO, |oldest| {
            let millis = self.clock.now().unix_millis().saturating_sub(oldest.unix_millis());
            Duration::from_millis(u64::try_from(millis).unwrap_or_default())
        });
        self.metrics.waiting(backlog, age);
        match spool.failure() {
            Some(failure) => self.health.fails_with(Part::ClickSpool, self.clock.now(), failure),
            None if cannot_read => {}
            None => self.health.works(Part::ClickSpool, self.clock.now()),
        }
    }

    /// A panic within the lock leaves no state that matters half changed: the file's transactions are atomic.
    fn spool(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A period in which the store accepts nothing.
struct Outage {
    pause: Duration,
    is_on: bool,
    /// Whether the last attempt could not read the spool.
    is_about_reading: bool,
    log: LogPace,
}

impl Default for Outage {
    fn default() -> Self {
        Self { pause: MIN_PAUSE / 2, is_on: false, is_about_reading: false, log: LogPace::default() }
    }
}

impl Outage {
    fn note_failure(&mut self) {
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        self.is_on = true;
    }

    /// Ends the outage. Returns whether there was one.
    fn end(&mut self) -> bool {
        if !self.is_on {
            return false;
        }
        *self = Self { log: std::mem::take(&mut self.log), ..Self::default() };
        true
    }
}
