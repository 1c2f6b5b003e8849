//! The program's listeners (D52, D63), which are bound, started and stopped together.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use metrics_exporter_prometheus::PrometheusHandle;
use signpost_app::Application;
use signpost_edge::{EdgeOptions, EdgeServer};
use signpost_http::{ApiOptions, ApiServer};

use crate::metrics_server::MetricsServer;
use crate::open_files::Connections;
use crate::sampled_metrics::{PoolSampler, SampledMetrics};
use crate::settings::{About, ServeSettings, names};
use crate::telemetry;

/// Bound sockets. Clients that connect wait until the server starts.
pub(crate) struct Sockets {
    api: TcpListener,
    links: TcpListener,
    metrics: Option<MetricsSocket>,
}

/// A bound socket for metrics, and the handle that renders them. Recording begins with it, before there is
/// anything to count.
struct MetricsSocket {
    listener: TcpListener,
    handle: PrometheusHandle,
}

/// The addresses on which the program listens, with the actual ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) api: SocketAddr,
    pub(crate) links: SocketAddr,
    pub(crate) metrics: Option<SocketAddr>,
}

impl Sockets {
    /// Binds the sockets, and starts recording metrics if there is a socket for them.
    ///
    /// # Errors
    /// An address cannot be bound; the message names its setting.
    pub(crate) fn bind(settings: &ServeSettings) -> Result<Self> {
        Ok(Self {
            api: bind(names::API_LISTEN, settings.plain.api_listen)?,
            links: bind(names::LINK_LISTEN, settings.plain.link_listen)?,
            metrics: settings
                .plain
                .metrics_listen
                .map(|address| {
                    let listener = bind(names::METRICS_LISTEN, address)?;
                    anyhow::Ok(MetricsSocket { listener, handle: telemetry::start_metrics()? })
                })
                .transpose()?,
        })
    }

    /// The addresses of the sockets.
    pub(crate) fn addresses(&self) -> io::Result<Addresses> {
        Ok(Addresses {
            api: self.api.local_addr()?,
            links: self.links.local_addr()?,
            metrics: self.metrics.as_ref().map(|metrics| metrics.listener.local_addr()).transpose()?,
        })
    }
}

fn bind(setting: &About, address: SocketAddr) -> Result<TcpListener> {
    signpost_listener::bind(address).with_context(|| format!("{}: cannot listen on {address}", setting.key))
}

/// The running servers.
pub(crate) struct Servers {
    api: ApiServer,
    links: EdgeServer,
    metrics: Option<MetricsServer>,
}

impl Servers {
    /// Starts the servers.
    ///
    /// # Errors
    /// A server cannot be started.
    pub(crate) fn start(
        sockets: Sockets,
        app: &Arc<Application>,
        link_options: EdgeOptions,
        pools: Vec<PoolSampler>,
        connections: Connections,
    ) -> Result<Self> {
        let Sockets { api, links, metrics } = sockets;
        signpost_listener::describe_metrics();
        let api_options = ApiOptions { workers: workers(), connections: connections.each };
        let api = ApiServer::start(api, Arc::clone(app), api_options).context("cannot start the API")?;
        let links = EdgeServer::start(links, Arc::clone(app), link_options)
            .context("cannot start the link listener")?;
        let sampled = SampledMetrics { started: app.clock.now(), durations: links.durations(), pools };
        let metrics = metrics
            .map(|socket| start_metrics(socket, Arc::clone(app), sampled, connections.metrics))
            .transpose()?;
        Ok(Self { api, links, metrics })
    }

    /// Waits until a listener fails.
    pub(crate) async fn ended(&mut self) -> anyhow::Error {
        let (listener, outcome) = tokio::select! {
            outcome = self.api.ended() => ("API", outcome),
            outcome = self.links.ended() => ("link", outcome),
            outcome = ended(self.metrics.as_mut()) => ("metrics", outcome),
        };
        let cause = outcome.err().map_or_else(String::new, |error| format!(": {error}"));
        anyhow::anyhow!("the {listener} listener stopped unexpectedly{cause}")
    }

    /// Stops accepting, and returns when running requests are answered or their time is up.
    pub(crate) async fn stop(self) {
        let Self { api, links, metrics } = self;
        let (api, links) = tokio::join!(api.stop(true), links.stop(true));
        let metrics = match metrics {
            Some(metrics) => metrics.stop().await,
            None => Ok(()),
        };
        for (listener, outcome) in [("API", api), ("link", links), ("metrics", metrics)] {
            if let Err(error) = outcome {
                tracing::error!(listener, %error, "a listener stopped unexpectedly");
            }
        }
    }
}

/// Waits until the listener for metrics ends, if there is one.
async fn ended(metrics: Option<&mut MetricsServer>) -> io::Result<()> {
    match metrics {
        Some(metrics) => metrics.ended().await,
        None => std::future::pending().await,
    }
}

/// The number of threads that answer the API, and of those that answer visitors.
pub(crate) fn workers() -> NonZeroUsize {
    available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn start_metrics(
    socket: MetricsSocket,
    app: Arc<Application>,
    sampled: SampledMetrics,
    connections: usize,
) -> Result<MetricsServer> {
    let MetricsSocket { listener, handle } = socket;
    MetricsServer::start(listener, app, handle, sampled, connections)
        .context("cannot start the metrics listener")
}
