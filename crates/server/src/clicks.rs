//! Records clicks, and counts them for the metrics.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use signpost_app::node_health::NodeHealth;
use signpost_app::ports::{ClickBatch, ClickKind, ClickSink, ClickStore, CountryLookup};
use signpost_click_recorder::{ClickRecorder, RecorderOptions, RecorderPorts};
use signpost_enrichment::Enricher;

use crate::settings::ClickSettings;
use crate::system::{OsRandomness, SystemClock};

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

/// Starts recording clicks, unless `click-recording` is off.
///
/// # Errors
/// The secrets key cannot be made, or the spool cannot be used.
pub(crate) async fn record_clicks(
    settings: &ClickSettings,
    store: &Arc<dyn ClickStore>,
    countries: &Arc<dyn CountryLookup>,
    health: &Arc<NodeHealth>,
    is_new_database: bool,
) -> Result<Option<Arc<ClickRecorder>>> {
    if !settings.are_recorded {
        return Ok(None);
    }
    let secrets_key = settings.secrets_key.as_ref();
    let secrets = secrets_key.map(|file| file.keys_or_new(&OsRandomness, is_new_database)).transpose()?;
    let world = RecorderPorts {
        store: Arc::clone(store),
        clock: Arc::new(SystemClock),
        randomness: Arc::new(OsRandomness),
        countries: Arc::clone(countries),
        facts: Box::new(Enricher::new(settings.lists.clone())),
        secrets: secrets.map(|keys| keys.current),
        health: Arc::clone(health),
    };
    let options = RecorderOptions::in_folder(settings.spool());
    Ok(Some(Arc::new(ClickRecorder::start(world, &options).await?)))
}

/// Writes the received clicks to the spool, and sends clicks from there for at most `within`.
pub(crate) async fn close_recorder(recorder: Option<Arc<ClickRecorder>>, within: Duration) {
    let Some(recorder) = recorder else { return };
    if let Err(error) = tokio::task::spawn_blocking(move || recorder.close(within)).await {
        tracing::error!(%error, "recording clicks panicked");
    }
}
