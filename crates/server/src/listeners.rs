//! The program's listeners, together (D52, D63): bound, started and stopped as one.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use actix_http::header::HeaderName;
use anyhow::{Context, Result};
use metrics_exporter_prometheus::PrometheusHandle;
use signpost_app::Application;
use signpost_edge::{EdgeOptions, EdgeServer};
use signpost_http::{ApiOptions, ApiServer};
use signpost_pages::SecurityContact;

use crate::metrics_server::MetricsServer;
use crate::open_files::Connections;
use crate::settings::{About, ServeSettings, names};
use crate::telemetry;

/// Bound sockets. Who connects waits until the server behind one starts.
pub(crate) struct Sockets {
    api: TcpListener,
    links: TcpListener,
    metrics: Option<MetricsSocket>,
}

/// A bound socket for metrics, and what shows them. Counting begins with it, before anything is there to be counted.
struct MetricsSocket {
    listener: TcpListener,
    shown: PrometheusHandle,
}

/// Where the program listens, with the ports that it really has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) api: SocketAddr,
    pub(crate) links: SocketAddr,
    pub(crate) metrics: Option<SocketAddr>,
}

impl Sockets {
    /// Binds all of them, and begins to count if there is one for metrics.
    ///
    /// # Errors
    /// One of the addresses is not to be had; the message names its setting.
    pub(crate) fn bind(settings: &ServeSettings) -> Result<Self> {
        Ok(Self {
            api: bind(names::API_LISTEN, settings.api_listen)?,
            links: bind(names::LINK_LISTEN, settings.link_listen)?,
            metrics: settings
                .metrics_listen
                .map(|address| {
                    let listener = bind(names::METRICS_LISTEN, address)?;
                    anyhow::Ok(MetricsSocket { listener, shown: telemetry::start_metrics()? })
                })
                .transpose()?,
        })
    }

    /// Where they are.
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

/// How links are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkOptions {
    /// How many misses an address may have within a minute; 0 means any number (D54).
    pub(crate) miss_throttle_per_minute: u32,
    /// How much memory links are kept in, in bytes.
    pub(crate) cache_bytes: u64,
    /// The header in which trusted proxies name the visitor's country (D55).
    pub(crate) country_header: Option<HeaderName>,
    /// Where weaknesses are reported.
    pub(crate) security_contact: Option<SecurityContact>,
}

/// The running servers.
pub(crate) struct Servers {
    api: ApiServer,
    links: EdgeServer,
    metrics: Option<MetricsServer>,
}

impl Servers {
    /// Starts them.
    ///
    /// # Errors
    /// One of them cannot be started.
    pub(crate) fn start(
        sockets: Sockets,
        app: &Arc<Application>,
        link_options: LinkOptions,
        connections: Connections,
    ) -> Result<Self> {
        let Sockets { api, links, metrics } = sockets;
        signpost_listener::describe_metrics();
        let metrics = metrics.map(|socket| start_metrics(socket, connections.metrics)).transpose()?;
        let workers = workers();
        let api_options = ApiOptions { workers, connections: connections.each };
        let LinkOptions { miss_throttle_per_minute, cache_bytes, country_header, security_contact } =
            link_options;
        let edge_options = EdgeOptions {
            miss_throttle_per_minute,
            workers,
            connections: connections.each,
            cache_bytes,
            country_header,
            security_contact,
        };
        Ok(Self {
            api: ApiServer::start(api, Arc::clone(app), api_options).context("cannot start the API")?,
            links: EdgeServer::start(links, Arc::clone(app), edge_options)
                .context("cannot start the link listener")?,
            metrics,
        })
    }

    /// Waits until one of them ends, which none does but by failing.
    pub(crate) async fn ended(&mut self) -> anyhow::Error {
        let (listener, outcome) = tokio::select! {
            outcome = self.api.ended() => ("API", outcome),
            outcome = self.links.ended() => ("link", outcome),
            outcome = ended(self.metrics.as_mut()) => ("metrics", outcome),
        };
        let cause = outcome.err().map_or_else(String::new, |error| format!(": {error}"));
        anyhow::anyhow!("the {listener} listener ended by itself{cause}")
    }

    /// Stops accepting, and returns when the requests that run are answered or their time is over.
    pub(crate) async fn stop(self) {
        let Self { api, links, metrics } = self;
        let (api, links) = tokio::join!(api.stop(true), links.stop(true));
        let metrics = match metrics {
            Some(metrics) => metrics.stop().await,
            None => Ok(()),
        };
        for (listener, outcome) in [("API", api), ("link", links), ("metrics", metrics)] {
            if let Err(error) = outcome {
                tracing::error!(listener, %error, "a listener ended by itself");
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

/// How many threads answer the requests of the API, and as many those of the links.
pub(crate) fn workers() -> NonZeroUsize {
    available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn start_metrics(socket: MetricsSocket, connections: usize) -> Result<MetricsServer> {
    let MetricsSocket { listener, shown } = socket;
    MetricsServer::start(listener, shown, connections).context("cannot start the metrics listener")
}
