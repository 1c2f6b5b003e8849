//! The recorder: its threads, and how they are started and ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signpost_app::ports::{
    ClickBatch, ClickSink, ClickStore, Clock, CountryLookup, Randomness, RandomnessUnavailable,
};
use signpost_domain::analytics::RecordedKind;
use tokio::runtime::Handle;

use crate::facts::FindFacts;
use crate::figures::Figures;
use crate::log_pace::LogPace;
use crate::queue::{Queue, Taken};
use crate::recording::Recording;
use crate::shipper::{Bell, Shipper};
use crate::spool::{Spool, SpoolLimits};
use crate::visitor_keys::VisitorKeys;

/// How long after the first buffer of a round those of the other workers are waited for, to make one segment of them.
const LINGER: Duration = Duration::from_millis(5);

/// How much a loss of power may take back of what waits for the store.
const SYNCED_EVERY: Duration = Duration::from_secs(1);

/// How often visitors' keys are looked after.
const KEYS_EVERY: Duration = Duration::from_secs(1);

/// The world around a recorder.
pub struct RecorderPorts {
    /// Where clicks are kept.
    pub store: Arc<dyn ClickStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub randomness: Arc<dyn Randomness>,
    /// The operator's database of countries, which is asked where no proxy has named the country.
    pub countries: Arc<dyn CountryLookup>,
    /// What else is found out about visits.
    pub facts: Box<dyn FindFacts>,
}

/// How a recorder works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderOptions {
    /// The folder of the spool. It may be shared by processes, and is created if it does not exist.
    pub folder: PathBuf,
    /// How much may wait there.
    pub limits: SpoolLimits,
    /// How many bytes of clicks may wait to be recorded, in memory.
    pub queue_bytes: usize,
}

impl RecorderOptions {
    /// The options for a spool in this folder, with the usual limits.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limits: SpoolLimits::default(), queue_bytes: 64 * 1024 * 1024 }
    }
}

/// A recorder could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There are no random bytes to name it by.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
    /// The system gave no thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
}

/// Records clicks. Dropping it ends it as [`ClickRecorder::close`] does, without time to send anything more.
pub struct ClickRecorder {
    queue: Arc<Queue>,
    spool: Arc<Mutex<Spool>>,
    bell: Arc<Bell>,
    figures: Figures,
    warnings: Mutex<LogPace>,
    threads: Mutex<Option<Threads>>,
}

struct Threads {
    recording: JoinHandle<()>,
    shipping: JoinHandle<()>,
    keys: tokio::task::JoinHandle<()>,
}

impl ClickRecorder {
    /// Starts recording, with metrics of the recorder that is installed by now. A spool that cannot be used stops nobody from
    /// starting. If the store can be reached, the visitors' key of today is fetched before this returns.
    pub async fn start(ports: RecorderPorts, options: &RecorderOptions) -> Result<Self, StartError> {
        let RecorderPorts { store, clock, randomness, countries, facts } = ports;
        let figures = Figures::new();
        let keys = Arc::new(VisitorKeys::new(Arc::clone(&randomness)));
        if let Err(error) = keys.keep_up(store.as_ref(), clock.now()).await {
            tracing::warn!(%error, "no visitors' key: visitors who come to several nodes today count on each of them");
        }
        let mut spool = Spool::new(&options.folder, options.limits, randomness, figures.clone())?;
        spool.prepare();
        let spool = Arc::new(Mutex::new(spool));
        let (queue, bell) = (Arc::new(Queue::new(options.queue_bytes)), Arc::new(Bell::default()));
        // Before the first visitor: clicks that wait for it would be lost with the process.
        let mut recording = Recording::new(facts, countries, Arc::clone(&keys));
        recording.warm_up();
        let recorder = Recorder {
            queue: Arc::clone(&queue),
            recording,
            spool: Arc::clone(&spool),
            bell: Arc::clone(&bell),
            figures: figures.clone(),
        };
        let shipper = Shipper {
            spool: Arc::clone(&spool),
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            figures: figures.clone(),
            bell: Arc::clone(&bell),
            runtime: Handle::current(),
        };
        let shipping = start_thread("clicks-shipping", move || shipper.run())?;
        let recording = match start_thread("clicks-recording", move || recorder.run()) {
            Ok(thread) => thread,
            Err(error) => {
                bell.end_by(Instant::now());
                return Err(error);
            }
        };
        let keys = tokio::spawn(look_after_keys(keys, store, clock));
        let threads = Mutex::new(Some(Threads { recording, shipping, keys }));
        Ok(Self { queue, spool, bell, figures, warnings: Mutex::default(), threads })
    }

    /// Takes no more clicks, records those that have come, and sends what is in the spool for at most `within`. What is left
    /// then stays in the spool, and is sent by the next process that uses the folder. This blocks.
    pub fn close(&self, within: Duration) {
        let end = Instant::now() + within;
        let Some(Threads { recording, shipping, keys }) = lock(&self.threads).take() else { return };
        self.queue.close();
        let recorded = recording.join();
        self.bell.end_by(end);
        let shipped = shipping.join();
        keys.abort();
        if recorded.is_err() || shipped.is_err() {
            tracing::error!("a thread that records clicks has panicked");
        }
        let backlog = lock(&self.spool).backlog();
        if backlog.batches_in_memory > 0 {
            tracing::error!(
                batches = backlog.batches_in_memory,
                "clicks were lost: neither disk nor store took them"
            );
        }
    }
}

impl ClickSink for ClickRecorder {
    fn take(&self, batch: ClickBatch) -> ClickBatch {
        match self.queue.put(batch) {
            Ok(empty) => empty,
            Err(mut full) => {
                let clicks = u64::try_from(full.iter().count()).unwrap_or(u64::MAX);
                self.figures.lost(clicks);
                if lock(&self.warnings).is_due() {
                    tracing::error!(clicks, "clicks come faster than they are recorded: some are dropped");
                }
                full.clear();
                full
            }
        }
    }
}

impl Drop for ClickRecorder {
    fn drop(&mut self) {
        self.close(Duration::ZERO);
    }
}

fn start_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StartError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(run).map_err(StartError::Thread)
}

async fn look_after_keys(keys: Arc<VisitorKeys>, store: Arc<dyn ClickStore>, clock: Arc<dyn Clock>) {
    let mut ticks = tokio::time::interval(KEYS_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The shipper says when the store is away.
        if let Err(error) = keys.keep_up(store.as_ref(), clock.now()).await {
            tracing::debug!(%error, "no visitors' key for now");
        }
    }
}

/// The recording thread's own.
struct Recorder {
    queue: Arc<Queue>,
    recording: Recording,
    spool: Arc<Mutex<Spool>>,
    bell: Arc<Bell>,
    figures: Figures,
}

impl Recorder {
    fn run(mut self) {
        let mut synced_at = Instant::now();
        loop {
            match self.queue.take(SYNCED_EVERY, LINGER) {
                Taken::Batches(batches) => {
                    if catch_unwind(AssertUnwindSafe(|| self.record(&batches))).is_err() {
                        let clicks: usize = batches.iter().map(|batch| batch.iter().count()).sum();
                        self.figures.lost(u64::try_from(clicks).unwrap_or(u64::MAX));
                        tracing::error!(
                            clicks,
                            "recording clicks ended in a panic; it goes on with the next ones"
                        );
                    }
                    self.queue.give_back(batches);
                }
                Taken::Nothing => {}
                Taken::Closed => break,
            }
            if synced_at.elapsed() >= SYNCED_EVERY {
                let mut spool = lock(&self.spool);
                spool.write_memory();
                spool.sync();
                synced_at = Instant::now();
            }
        }
    }

    fn record(&mut self, batches: &[ClickBatch]) {
        let (segments, counts) = self.recording.segments(batches);
        let mut recorded = counts;
        for segment in segments {
            let clicks = u64::from(segment.clicks);
            if lock(&self.spool).put(segment).is_err() {
                self.figures.lost(clicks);
                recorded = [0; RecordedKind::ALL.len()];
            }
        }
        self.figures.recorded(recorded);
        self.bell.ring();
    }
}

/// Nothing between the locks leaves anything half done that matters.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
