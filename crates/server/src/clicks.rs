//! Counts clicks for the metrics.

use std::sync::Arc;

use signpost_app::ports::{ClickBatch, ClickKind, ClickSink};

const CLICKS_METRIC: &str = "signpost_clicks_total";

/// Counts clicks by kind, and passes them to the recorder.
pub(crate) struct CountedClicks {
    sent: metrics::Counter,
    shown: metrics::Counter,
    blocked: metrics::Counter,
    widget: metrics::Counter,
    recorder: Option<Arc<dyn ClickSink>>,
}

impl CountedClicks {
    /// Counts with the metrics that are installed by now. Without a `recorder` clicks are only counted.
    pub(crate) fn before(recorder: Option<Arc<dyn ClickSink>>) -> Self {
        metrics::describe_counter!(
            CLICKS_METRIC,
            "Visits to links that record clicks: `sent`, `shown`, `blocked` by a gate, or to a `widget`."
        );
        let counter = |kind: &'static str| metrics::counter!(CLICKS_METRIC, "kind" => kind);
        Self {
            sent: counter("sent"),
            shown: counter("shown"),
            blocked: counter("blocked"),
            widget: counter("widget"),
            recorder,
        }
    }
}

impl ClickSink for CountedClicks {
    fn take(&self, mut batch: ClickBatch) -> ClickBatch {
        for click in batch.iter() {
            let counter = match click.kind {
                ClickKind::Sent => &self.sent,
                ClickKind::Shown => &self.shown,
                ClickKind::Blocked => &self.blocked,
                ClickKind::Widget(_) => &self.widget,
            };
            counter.increment(1);
        }
        if let Some(recorder) = &self.recorder {
            return recorder.take(batch);
        }
        batch.clear();
        batch
    }
}
