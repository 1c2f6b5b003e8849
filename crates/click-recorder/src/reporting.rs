//! The metrics of recording, and a limit of repeated log messages.

use std::time::{Duration, Instant};

use signpost_domain::analytics::RecordedKind;

use crate::spool::Backlog;

/// The edge counts here too, when a lane is full.
const DROPPED: &str = "signpost_clicks_dropped_total";
const RECORDED: &str = "signpost_clicks_recorded_total";
const APPENDED: &str = "signpost_click_batches_appended_total";
const FAILURES: &str = "signpost_click_append_failures_total";
const GAPS: &str = "signpost_click_gaps_total";
const SPOOLED_BATCHES: &str = "signpost_click_spool_batches";
const SPOOLED_BYTES: &str = "signpost_click_spool_bytes";
const SPOOLED_AGE: &str = "signpost_click_spool_age_seconds";

/// The metrics, registered with the recorder installed at creation.
#[derive(Clone)]
pub(crate) struct RecorderMetrics {
    recorded: [metrics::Counter; RecordedKind::ALL.len()],
    dropped: metrics::Counter,
    appended: metrics::Counter,
    failures: metrics::Counter,
    gaps: metrics::Counter,
    batches: metrics::Gauge,
    bytes: metrics::Gauge,
    age: metrics::Gauge,
}

impl RecorderMetrics {
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(RECORDED, "Recorded visits, by what they count as.");
        metrics::describe_counter!(
            DROPPED,
            "Clicks lost because their queue or the spool was full, or because a spool file was broken."
        );
        metrics::describe_counter!(APPENDED, "Batches of clicks that the store accepted from this node.");
        metrics::describe_counter!(
            FAILURES,
            "Batches of clicks that the store did not accept; they are sent again."
        );
        metrics::describe_counter!(GAPS, "Gaps: how often the store lacked an earlier batch of clicks.");
        metrics::describe_gauge!(SPOOLED_BATCHES, "Batches of clicks that wait for the store.");
        metrics::describe_gauge!(
            SPOOLED_BYTES,
            metrics::Unit::Bytes,
            "Bytes of clicks that wait for the store."
        );
        metrics::describe_gauge!(
            SPOOLED_AGE,
            metrics::Unit::Seconds,
            "Age of the oldest click that waits for the store."
        );
        let counter = |name: &'static str| {
            let counter = metrics::counter!(name);
            counter.increment(0);
            counter
        };
        Self {
            recorded: RecordedKind::ALL.map(|kind| metrics::counter!(RECORDED, "kind" => kind.as_str())),
            dropped: counter(DROPPED),
            appended: counter(APPENDED),
            failures: counter(FAILURES),
            gaps: counter(GAPS),
            batches: metrics::gauge!(SPOOLED_BATCHES),
            bytes: metrics::gauge!(SPOOLED_BYTES),
            age: metrics::gauge!(SPOOLED_AGE),
        }
    }

    /// Counts recorded clicks of each kind, in the order of [`RecordedKind::ALL`].
    pub(crate) fn recorded(&self, counts: [u64; RecordedKind::ALL.len()]) {
        for (counter, count) in self.recorded.iter().zip(counts) {
            counter.increment(count);
        }
    }

    /// Counts lost clicks.
    pub(crate) fn lost(&self, clicks: u64) {
        self.dropped.increment(clicks);
    }

    /// Counts a batch that the store accepted.
    pub(crate) fn appended(&self) {
        self.appended.increment(1);
    }

    /// Counts a batch that the store did not accept.
    pub(crate) fn failed(&self) {
        self.failures.increment(1);
    }

    /// Counts a gap: the store lacks an earlier batch.
    pub(crate) fn gap(&self) {
        self.gaps.increment(1);
    }

    /// Sets the gauges of the backlog.
    pub(crate) fn waiting(&self, backlog: Backlog, age: Duration) {
        let gauge = |value: u64| f64::from(u32::try_from(value).unwrap_or(u32::MAX));
        self.batches.set(gauge(backlog.batches));
        self.bytes.set(gauge(backlog.bytes));
        self.age.set(age.as_secs_f64());
    }
}

/// Limits a repeated log message to one line a minute.
#[derive(Debug, Default)]
pub(crate) struct LogPace {
    last: Option<Instant>,
}

impl LogPace {
    const INTERVAL: Duration = Duration::from_mins(1);

    /// Whether a line may be logged now. If so, the next one may follow a minute later.
    pub(crate) fn is_due(&mut self) -> bool {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= Self::INTERVAL);
        if is_due {
            self.last = Some(Instant::now());
        }
        is_due
    }
}
