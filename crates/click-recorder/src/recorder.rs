//! The recorder: its threads, their start and their end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signpost_app::node_health::NodeHealth;
use signpost_app::ports::{
    ClickBatch, ClickSink, ClickStore, Clock, CountryLookup, Randomness, RandomnessUnavailable,
};
use tokio::runtime::Handle;

use crate::account_segments::CountedSegment;
use crate::facts::FindFacts;
use crate::queue::{Put, Queue, Taken};
use crate::recording::Recording;
use crate::reporting::{LogPace, RecorderMetrics};
use crate::secrets_key::SecretsKey;
use crate::shipper::{Bell, Shipper};
use crate::spool::{Spool, SpoolLimits};
use crate::visitor_keys::VisitorKeys;

/// How long after the first buffer the recorder waits for those of other workers, to build one segment of
/// all.
const LINGER: Duration = Duration::from_millis(5);

/// How much of the spool a power failure may lose.
const SYNCED_EVERY: Duration = Duration::from_secs(1);

/// How often visitor keys are maintained.
const KEYS_INTERVAL: Duration = Duration::from_secs(1);

/// The ports of a recorder.
pub struct RecorderPorts {
    /// The store of clicks.
    pub store: Arc<dyn ClickStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub randomness: Arc<dyn Randomness>,
    /// The operator's database of countries, for visits whose country no proxy named.
    pub countries: Arc<dyn CountryLookup>,
    /// Derives the other facts of visits.
    pub facts: Box<dyn FindFacts>,
    /// The secret that all nodes share outside of the store. Without it, the store alone suffices to compute hashes of
    /// visitors.
    pub secrets: Option<SecretsKey>,
    /// Notes whether the spool and the store work.
    pub health: Arc<NodeHealth>,
}

/// The options of a recorder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderOptions {
    /// The folder of the spool. Processes may share it. It is created if missing.
    pub folder: PathBuf,
    /// The limits of the spool.
    pub limits: SpoolLimits,
    /// Limit of the queue in memory, in bytes.
    pub queue_bytes: usize,
}

impl RecorderOptions {
    /// The options for a spool in this folder, with the default limits.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limits: SpoolLimits::default(), queue_bytes: 64 * 1024 * 1024 }
    }
}

/// Why a recorder cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There are no random bytes to name its source.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
    /// The system cannot start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
}

/// Records clicks. Dropping it closes it as [`ClickRecorder::close`] does, but sends nothing more.
pub struct ClickRecorder {
    queue: Arc<Queue>,
    spool: Arc<Mutex<Spool>>,
    bell: Arc<Bell>,
    metrics: RecorderMetrics,
    warnings: Mutex<LogPace>,
    threads: Mutex<Option<Threads>>,
}

struct Threads {
    recording: JoinHandle<()>,
    shipping: JoinHandle<()>,
    keys: tokio::task::JoinHandle<()>,
}

impl ClickRecorder {
    /// Starts recording, with metrics of the installed recorder. An unusable spool does not prevent the
    /// start. If the store is reachable, this fetches today's visitor key before it returns.
    ///
    /// The recorder accepts clicks at once. It records the first ones when [`FindFacts::warm_up`] has returned; a process
    /// that is killed before loses them (ADR 60).
    pub async fn start(ports: RecorderPorts, options: &RecorderOptions) -> Result<Self, StartError> {
        let RecorderPorts { store, clock, randomness, countries, facts, secrets, health } = ports;
        let metrics = RecorderMetrics::new();
        let keys = Arc::new(VisitorKeys::new(Arc::clone(&randomness), secrets));
        if let Err(error) = keys.refresh(store.as_ref(), clock.now()).await {
            tracing::warn!(%error, "no shared visitor key: visitors who reach several nodes today count once on each");
        }
        let mut spool = Spool::new(&options.folder, options.limits, randomness, metrics.clone())?;
        spool.create_file();
        let spool = Arc::new(Mutex::new(spool));
        let (queue, bell) = (Arc::new(Queue::new(options.queue_bytes)), Arc::new(Bell::default()));
        let recorder = Recorder {
            queue: Arc::clone(&queue),
            recording: Recording::new(facts, countries, Arc::clone(&keys)),
            spool: Arc::clone(&spool),
            bell: Arc::clone(&bell),
            metrics: metrics.clone(),
        };
        let shipper = Shipper {
            spool: Arc::clone(&spool),
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            metrics: metrics.clone(),
            health,
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
        let keys = tokio::spawn(maintain_keys(keys, store, clock));
        let threads = Mutex::new(Some(Threads { recording, shipping, keys }));
        Ok(Self { queue, spool, bell, metrics, warnings: Mutex::default(), threads })
    }

    /// Accepts no more clicks, records those queued, and then sends the spool for at most `within`. The rest stays
    /// in the spool, for the next process that uses the folder. This call blocks.
    pub fn close(&self, within: Duration) {
        let Some(Threads { recording, shipping, keys }) = lock(&self.threads).take() else { return };
        self.queue.close();
        let recorded = recording.join();
        self.bell.end_by(Instant::now() + within);
        let shipped = shipping.join();
        keys.abort();
        if recorded.is_err() || shipped.is_err() {
            tracing::error!("a thread that records clicks has panicked");
        }
        let backlog = lock(&self.spool).backlog();
        if backlog.batches_in_memory > 0 {
            tracing::error!(
                batches = backlog.batches_in_memory,
                "clicks were lost: neither disk nor store accepted them"
            );
        }
    }
}

impl ClickSink for ClickRecorder {
    fn take(&self, batch: ClickBatch) -> ClickBatch {
        let Put { empty, lost } = self.queue.put(batch);
        if lost > 0 {
            self.metrics.lost(lost);
            if lock(&self.warnings).is_due() {
                tracing::error!(
                    clicks = lost,
                    "clicks arrive faster than they are recorded: some are dropped"
                );
            }
        }
        empty
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

async fn maintain_keys(keys: Arc<VisitorKeys>, store: Arc<dyn ClickStore>, clock: Arc<dyn Clock>) {
    let mut ticks = tokio::time::interval(KEYS_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The shipper reports that the store is unavailable.
        if let Err(error) = keys.refresh(store.as_ref(), clock.now()).await {
            tracing::debug!(%error, "no shared visitor key yet");
        }
    }
}

/// The state of the recording thread.
struct Recorder {
    queue: Arc<Queue>,
    recording: Recording,
    spool: Arc<Mutex<Spool>>,
    bell: Arc<Bell>,
    metrics: RecorderMetrics,
}

impl Recorder {
    fn run(mut self) {
        // Here and not before the start, because it takes a good part of a second. The first clicks wait in the queue
        // meanwhile.
        if catch_unwind(AssertUnwindSafe(|| self.recording.warm_up())).is_err() {
            tracing::error!(
                "preparing to record clicks panicked; the recorder continues with the first clicks"
            );
        }
        let mut synced_at = Instant::now();
        loop {
            match self.queue.take(SYNCED_EVERY, LINGER) {
                Taken::Batches(batches) => {
                    if catch_unwind(AssertUnwindSafe(|| self.record(&batches))).is_err() {
                        let clicks: usize = batches.iter().map(|batch| batch.iter().count()).sum();
                        self.metrics.lost(u64::try_from(clicks).unwrap_or(u64::MAX));
                        tracing::error!(
                            clicks,
                            "recording clicks panicked; the recorder continues with the next clicks"
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
        for CountedSegment { segment, counts } in self.recording.segments(batches) {
            let clicks = u64::from(segment.clicks);
            if lock(&self.spool).put(segment).is_ok() {
                self.metrics.recorded(counts);
            } else {
                self.metrics.lost(clicks);
            }
        }
        self.bell.ring();
    }
}

/// A panic within the lock leaves no state that matters half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
