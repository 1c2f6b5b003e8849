//! Logs and metrics.

use std::env;
use std::io;
use std::panic::{self, PanicHookInfo};

use anyhow::{Context, Result};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use crate::settings::{LogFormat, SettingsError};

/// The variable with the log filter, in the syntax of the crate `tracing-subscriber`.
const FILTER_VARIABLE: &str = "RUST_LOG";

/// The bounds of the buckets in which durations are counted. Unlike quantiles, buckets of several nodes add up.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Writes log lines to standard error, from `level` upwards unless `RUST_LOG` says otherwise. Panics are logged
/// too.
///
/// # Errors
/// `RUST_LOG` is not a valid filter.
pub(crate) fn start_logging(format: LogFormat, level: LevelFilter) -> Result<()> {
    let filter = match env::var_os(FILTER_VARIABLE).filter(|filter| !filter.is_empty()) {
        Some(filter) => EnvFilter::builder()
            .parse(filter.to_string_lossy())
            .map_err(|error| SettingsError::at(FILTER_VARIABLE, format!("must be a log filter: {error}")))?,
        // The framework's messages about its workers do not help operators. The DNS library warns of every
        // datagram that does not answer its query, and any host can send one.
        None => EnvFilter::new(format!("{level},actix_server=warn,actix_http=off,hickory_net=error")),
    };
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        // Otherwise the subscriber reports a failed write to standard error on standard error, and panics. A
        // full disk or a closed pipe must cost log lines only.
        .log_internal_errors(false);
    let started = match format {
        LogFormat::Text => lines.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
        }
    };
    started.map_err(anyhow::Error::from_boxed).context("cannot start logging")?;
    panic::set_hook(Box::new(log_panic));
    Ok(())
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(message, location, "panic");
}

/// Starts recording metrics, and returns the handle that renders them.
///
/// # Errors
/// A recorder is installed already.
pub(crate) fn start_metrics() -> Result<PrometheusHandle> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
        .context("cannot start metrics")?
        .build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).context("cannot start metrics")?;
    metrics::describe_gauge!("signpost_build_info", "1, with the version of the program.");
    metrics::gauge!("signpost_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}
