//! What is counted of recording.

use std::time::Duration;

use signpost_domain::analytics::RecordedKind;

use crate::spool::Backlog;

/// Counted by the edge as well, for clicks that found their lane full.
const DROPPED: &str = "signpost_clicks_dropped_total";
const RECORDED: &str = "signpost_clicks_recorded_total";
const APPENDED: &str = "signpost_click_batches_appended_total";
const FAILURES: &str = "signpost_click_append_failures_total";
const GAPS: &str = "signpost_click_gaps_total";
const SPOOLED_BATCHES: &str = "signpost_click_spool_batches";
const SPOOLED_BYTES: &str = "signpost_click_spool_bytes";
const SPOOLED_AGE: &str = "signpost_click_spool_age_seconds";

/// The metrics, of the recorder that is installed when they are made.
#[derive(Clone)]
pub(crate) struct Figures {
    recorded: [metrics::Counter; RecordedKind::ALL.len()],
    dropped: metrics::Counter,
    appended: metrics::Counter,
    failures: metrics::Counter,
    gaps: metrics::Counter,
    batches: metrics::Gauge,
    bytes: metrics::Gauge,
    age: metrics::Gauge,
}

impl Figures {
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(RECORDED, "Visits that were recorded, by what they count as.");
        metrics::describe_counter!(
            DROPPED,
            "Clicks that were lost: their queue or the spool was full, or a file of the spool was broken."
        );
        metrics::describe_counter!(APPENDED, "Batches of clicks that the store took from this node.");
        metrics::describe_counter!(
            FAILURES,
            "Batches of clicks that the store did not take; they are sent again."
        );
        metrics::describe_counter!(GAPS, "Times that the store missed an earlier batch of clicks.");
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

    /// Clicks were recorded: so many of each kind, in the order of [`RecordedKind::ALL`].
    pub(crate) fn recorded(&self, counts: [u64; RecordedKind::ALL.len()]) {
        for (counter, count) in self.recorded.iter().zip(counts) {
            counter.increment(count);
        }
    }

    /// So many clicks were lost.
    pub(crate) fn lost(&self, clicks: u64) {
        self.dropped.increment(clicks);
    }

    /// The store has a batch.
    pub(crate) fn appended(&self) {
        self.appended.increment(1);
    }

    /// The store did not take a batch.
    pub(crate) fn failed(&self) {
        self.failures.increment(1);
    }

    /// The store missed an earlier batch.
    pub(crate) fn gap(&self) {
        self.gaps.increment(1);
    }

    /// What waits by now.
    pub(crate) fn waiting(&self, backlog: Backlog, age: Duration) {
        let gauge = |value: u64| f64::from(u32::try_from(value).unwrap_or(u32::MAX));
        self.batches.set(gauge(backlog.batches));
        self.bytes.set(gauge(backlog.bytes));
        self.age.set(age.as_secs_f64());
    }
}
