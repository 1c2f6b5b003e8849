//! Reporting an outage of the store once a minute.

use std::time::Duration;

use signpost_app::ports::StoreError;
use signpost_app::with_causes;
use tokio::time::Instant;

const UP: &str = "signpost_quota_store_up";
const FALLBACK: &str = "signpost_quota_fallback_total";
const INTERVAL: Duration = Duration::from_mins(1);

/// What was reported, and what the next report contains.
#[derive(Debug, Default)]
pub(crate) struct OutageReport {
    warned_at: Option<Instant>,
    returned_at: Option<Instant>,
    /// When the store failed last, and why.
    last_failure: Option<(Instant, String)>,
    /// Requests decided from memory since the last report.
    decided: u64,
}

impl OutageReport {
    /// Registers the metrics.
    pub(crate) fn begin() {
        metrics::describe_gauge!(
            UP,
            "Whether the shared quota store is asked (1) or only this node's memory (0)."
        );
        metrics::describe_counter!(FALLBACK, "Requests whose quota was decided from this node's memory.");
        metrics::gauge!(UP).set(1.0);
        metrics::counter!(FALLBACK).absolute(0);
    }

    /// Counts a request that was decided from memory.
    pub(crate) fn decided_from_memory(&mut self) {
        metrics::counter!(FALLBACK).increment(1);
        self.decided = self.decided.saturating_add(1);
    }

    /// Reports a failure of the store.
    pub(crate) fn failed(&mut self, error: &StoreError) {
        self.last_failure = Some((Instant::now(), with_causes(error)));
        if is_due(&mut self.warned_at) {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            tracing::warn!(
                %error,
                cause,
                decided_from_memory = self.decided,
                "the quota store fails: requests are counted in this node's memory"
            );
            self.decided = 0;
        }
    }

    /// How long ago the store failed last, and why.
    pub(crate) fn last_failure(&self) -> Option<(Duration, String)> {
        self.last_failure.as_ref().map(|(at, error)| (at.elapsed(), error.clone()))
    }

    /// Reports that the store is no longer asked.
    #[expect(clippy::unused_self, reason = "all reports go through this type, even those without state")]
    pub(crate) fn left(&self) {
        metrics::gauge!(UP).set(0.0);
    }

    /// Reports that the store is asked again.
    pub(crate) fn returned(&mut self) {
        metrics::gauge!(UP).set(1.0);
        if is_due(&mut self.returned_at) {
            tracing::info!(
                decided_from_memory = self.decided,
                "the quota store answers again and is asked again"
            );
            self.decided = 0;
        }
    }
}

fn is_due(last: &mut Option<Instant>) -> bool {
    let is_due = last.is_none_or(|last| last.elapsed() >= INTERVAL);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}
