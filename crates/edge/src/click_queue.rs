//! Clicks on their way out of the workers.
//!
//! Each worker has a lane of its own, so that no visit waits for another worker's. One task empties all lanes twenty times a
//! second and hands the clicks on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signpost_app::ports::{Click, ClickBatch, ClickSink};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

/// How often lanes are emptied. What is in them is lost when the process is killed.
const EMPTIED_EVERY: Duration = Duration::from_millis(50);

/// The most that a lane holds, in bytes: some ten thousand clicks, which is more than a core answers meanwhile.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Counts clicks that found their lane full.
pub(crate) const DROPPED_METRIC: &str = "signpost_clicks_dropped_total";

/// The clicks of one worker.
pub(crate) struct Lane {
    clicks: Mutex<ClickBatch>,
    dropped: metrics::Counter,
}

impl Lane {
    /// Adds a click. If the lane is full, the click is left out and counted: visitors never wait for clicks.
    pub(crate) fn push(&self, click: &Click<'_>) {
        if !self.clicks().push(click, MOST_BYTES) {
            self.dropped.increment(1);
        }
    }

    /// Nothing panics between the locks.
    fn clicks(&self) -> MutexGuard<'_, ClickBatch> {
        self.clicks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lanes of all workers.
#[derive(Clone)]
pub(crate) struct ClickQueue {
    lanes: Arc<Mutex<Vec<Arc<Lane>>>>,
    sink: Arc<dyn ClickSink>,
}

impl ClickQueue {
    pub(crate) fn new(sink: Arc<dyn ClickSink>) -> Self {
        metrics::describe_counter!(
            DROPPED_METRIC,
            "Clicks that were not recorded because their queue was full."
        );
        metrics::counter!(DROPPED_METRIC).increment(0);
        Self { lanes: Arc::default(), sink }
    }

    /// A lane for one more worker.
    pub(crate) fn lane(&self) -> Arc<Lane> {
        let lane = Arc::new(Lane { clicks: Mutex::default(), dropped: metrics::counter!(DROPPED_METRIC) });
        self.lanes().push(Arc::clone(&lane));
        lane
    }

    /// Hands on the clicks of all lanes.
    pub(crate) fn empty(&self) {
        let lanes = self.lanes().clone();
        let mut spare = ClickBatch::default();
        for lane in lanes {
            if lane.clicks().is_empty() {
                continue;
            }
            let full = std::mem::replace(&mut *lane.clicks(), spare);
            spare = self.sink.take(full);
            spare.clear();
        }
    }

    /// Empties the lanes from now on, until the task is aborted.
    pub(crate) fn empty_regularly(&self) -> JoinHandle<()> {
        let queue = self.clone();
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EMPTIED_EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                queue.empty();
            }
        })
    }

    /// Nothing panics between the locks.
    fn lanes(&self) -> MutexGuard<'_, Vec<Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
