//! Sends what is in the spool to the store, one batch after another.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use signpost_app::ports::{Appended, ClickStore, Clock, EncodedClicks, StoreError};
use tokio::runtime::Handle;

use crate::figures::Figures;
use crate::log_pace::LogPace;
use crate::spool::{Spool, Waiting};

/// How often the figures are brought up to date, at least.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(1);

/// How often the files of dead processes are looked for.
const ADOPTED_EVERY: Duration = Duration::from_mins(1);

/// How long to wait after a failure, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Tells the shipper that there is something to do.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<Rung>,
    rung: Condvar,
}

#[derive(Debug, Clone, Copy, Default)]
struct Rung {
    is_rung: bool,
    /// When to be done at the latest, once nothing more will come.
    end: Option<Instant>,
}

impl Bell {
    /// There is something in the spool.
    pub(crate) fn ring(&self) {
        self.state().is_rung = true;
        self.rung.notify_one();
    }

    /// There will be nothing more in the spool.
    pub(crate) fn end_by(&self, end: Instant) {
        self.state().end = Some(end);
        self.rung.notify_one();
    }

    fn end(&self) -> Option<Instant> {
        self.state().end
    }

    /// Waits for a ring, if `for_rings`, or for the end.
    fn wait(&self, at_most: Duration, for_rings: bool) {
        let waited = self.rung.wait_timeout_while(self.state(), at_most, |rung| {
            rung.end.is_none() && !(for_rings && rung.is_rung)
        });
        waited.unwrap_or_else(PoisonError::into_inner).0.is_rung = false;
    }

    /// Nothing panics between the locks.
    fn state(&self) -> MutexGuard<'_, Rung> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's own.
pub(crate) struct Shipper {
    pub(crate) spool: Arc<Mutex<Spool>>,
    pub(crate) store: Arc<dyn ClickStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) figures: Figures,
    pub(crate) bell: Arc<Bell>,
    pub(crate) runtime: Handle,
}

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Sent,
    NothingToSend,
    Failed,
}

impl Shipper {
    /// Sends until it is told to end.
    pub(crate) fn run(self) {
        let mut adopted_at: Option<Instant> = None;
        let mut looked_at: Option<Instant> = None;
        let mut outage = Outage::default();
        let is_past = |moment: Option<Instant>, interval| moment.is_none_or(|it| it.elapsed() >= interval);
        loop {
            if is_past(adopted_at, ADOPTED_EVERY) && self.bell.end().is_none() {
                self.spool().adopt();
                adopted_at = Some(Instant::now());
            }
            let step = self.send_one(&mut outage);
            if is_past(looked_at, LOOKED_AT_EVERY) || step == Step::NothingToSend {
                self.look_at_backlog();
                looked_at = Some(Instant::now());
            }
            match (step, self.bell.end()) {
                (Step::Sent, None) => {}
                (Step::Sent, Some(end)) if Instant::now() < end => {}
                (Step::NothingToSend | Step::Sent, Some(_)) => break,
                (Step::NothingToSend, None) => self.bell.wait(LOOKED_AT_EVERY, true),
                (Step::Failed, None) => self.bell.wait(outage.pause, false),
                // What is in files is there at the next start; what is in memory is worth another try.
                (Step::Failed, Some(end)) => {
                    self.spool().write_memory();
                    if self.spool().backlog().batches_in_memory == 0 || Instant::now() >= end {
                        break;
                    }
                    std::thread::sleep(FIRST_PAUSE.min(end.saturating_duration_since(Instant::now())));
                }
            }
        }
        self.spool().close();
    }

    fn send_one(&self, outage: &mut Outage) -> Step {
        let next = self.spool().next();
        let waiting = match next {
            Ok(Some(waiting)) => waiting,
            Ok(None) => return Step::NothingToSend,
            Err(error) => {
                outage.begin_or_go_on();
                if outage.log.is_due() {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::error!(%error, cause, "the spool of clicks cannot be read");
                }
                return Step::Failed;
            }
        };
        match self.append(&waiting.batch) {
            Ok(Appended::Now | Appended::Before) => {
                self.figures.appended();
                if outage.end() {
                    tracing::info!("clicks reach the store again");
                }
                self.spool().forget(waiting);
                Step::Sent
            }
            Ok(Appended::AfterGap) => self.begin_anew(&waiting, outage),
            Err(error) => {
                self.figures.failed();
                outage.begin_or_go_on();
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

    /// Appends a batch. While the program ends it takes no longer than there is time.
    fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        let append = self.store.append(batch);
        self.runtime.block_on(async {
            let Some(end) = self.bell.end() else { return append.await };
            let timed = tokio::time::timeout_at(end.into(), append).await;
            timed.unwrap_or_else(|_| Err(StoreError::unavailable("there was no time left")))
        })
    }

    /// The store misses a batch that we no longer have. What we do have is counted, under another source.
    fn begin_anew(&self, waiting: &Waiting, outage: &mut Outage) -> Step {
        self.figures.gap();
        let number = waiting.batch.number;
        tracing::error!(
            number,
            "the store misses clicks that it had acknowledged, or that were lost with a file of the spool: it may \
             have been restored from a backup"
        );
        match self.spool().begin_anew_at(waiting) {
            Ok(()) => Step::Sent,
            Err(error) => {
                tracing::error!(%error, "the spool of clicks cannot be written");
                outage.begin_or_go_on();
                Step::Failed
            }
        }
    }

    fn look_at_backlog(&self) {
        let mut spool = self.spool();
        let age = spool.oldest().map_or(Duration::ZERO, |oldest| {
            let millis = self.clock.now().unix_millis().saturating_sub(oldest.unix_millis());
            Duration::from_millis(u64::try_from(millis).unwrap_or_default())
        });
        self.figures.waiting(spool.backlog(), age);
    }

    /// A panic while the lock is held leaves nothing half done that matters: the file's transactions are whole.
    fn spool(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time in which the store takes nothing.
struct Outage {
    pause: Duration,
    is_on: bool,
    log: LogPace,
}

impl Default for Outage {
    fn default() -> Self {
        Self { pause: FIRST_PAUSE / 2, is_on: false, log: LogPace::default() }
    }
}

impl Outage {
    fn begin_or_go_on(&mut self) {
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        self.is_on = true;
    }

    /// Whether it was on.
    fn end(&mut self) -> bool {
        if !self.is_on {
            return false;
        }
        *self = Self { log: std::mem::take(&mut self.log), ..Self::default() };
        true
    }
}
