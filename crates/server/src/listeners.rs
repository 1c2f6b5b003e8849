//! The program's listeners (D52, D63), which are bound, started and stopped together.

use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use metrics_exporter_prometheus::PrometheusHandle;
use signpost_app::Application;
use signpost_app::ports::RefusalCounts;
use signpost_dashboard::{DashboardOptions, DashboardOrigin, DashboardServer};
use signpost_edge::{EdgeOptions, EdgeServer};
use signpost_http::{ApiOptions, ApiServer};
use signpost_listener::{PassedSockets, Times};

use crate::https_server::{Hosts, HttpsOptions, HttpsServer, HttpsServices};
use crate::metrics_server::MetricsServer;
use crate::open_files::Connections;
use crate::refusal_counts::RecordedRefusals;
use crate::sampled_metrics::{PoolSampler, SampledMetrics};
use crate::settings::{About, BalancedListener, DashboardListen, ServeSettings, names};
use crate::telemetry;

/// Bound sockets. Clients that connect wait until the server starts.
pub(crate) struct Sockets {
    api: TcpListener,
    links: TcpListener,
    dashboard: Option<TcpListener>,
    tls: Option<TcpListener>,
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
    pub(crate) dashboard: Option<SocketAddr>,
    pub(crate) tls: Option<SocketAddr>,
    pub(crate) metrics: Option<SocketAddr>,
}

impl Sockets {
    /// Binds the sockets, or takes those of `passed` that are bound to their addresses, and starts recording metrics if there
    /// is a socket for them.
    ///
    /// # Errors
    /// An address cannot be bound; the message names its setting.
    pub(crate) fn bind(settings: &ServeSettings, passed: &mut PassedSockets) -> Result<Self> {
        let mut socket = |setting, address| match passed.claim(address) {
            Some(socket) => Ok(socket),
            None => bind(setting, address, &passed.unclaimed()),
        };
        Ok(Self {
            api: socket(names::API_LISTEN, settings.plain.api_listen)?,
            links: socket(names::LINK_LISTEN, settings.plain.link_listen)?,
            dashboard: match settings.plain.dashboard_listen {
                DashboardListen::Off => None,
                DashboardListen::At(address) => Some(socket(names::DASHBOARD_LISTEN, address)?),
            },
            tls: settings.https.as_ref().map(|https| socket(names::TLS_LISTEN, https.listen)).transpose()?,
            metrics: settings
                .plain
                .metrics_listen
                .map(|address| {
                    let listener = socket(names::METRICS_LISTEN, address)?;
                    anyhow::Ok(MetricsSocket { listener, handle: telemetry::start_metrics()? })
                })
                .transpose()?,
        })
    }

    /// Counts what the program refuses, if it records metrics.
    pub(crate) fn refusals(&self) -> Option<Arc<dyn RefusalCounts>> {
        let metrics = self.metrics.as_ref()?;
        Some(Arc::new(RecordedRefusals(metrics.handle.clone())))
    }

    /// The addresses of the sockets.
    pub(crate) fn addresses(&self) -> io::Result<Addresses> {
        Ok(Addresses {
            api: self.api.local_addr()?,
            links: self.links.local_addr()?,
            dashboard: self.dashboard.as_ref().map(TcpListener::local_addr).transpose()?,
            tls: self.tls.as_ref().map(TcpListener::local_addr).transpose()?,
            metrics: self.metrics.as_ref().map(|metrics| metrics.listener.local_addr()).transpose()?,
        })
    }
}

/// Listens on an address. `passed` are the addresses of other sockets of the service manager.
fn bind(setting: &About, address: SocketAddr, passed: &[SocketAddr]) -> Result<TcpListener> {
    signpost_listener::bind(address).map_err(|error| {
        let advice = match (error.kind(), passed.iter().find(|other| other.port() == address.port())) {
            (_, Some(other)) => {
                format!("; the service manager passes a socket at {other}: set `{}` to that", setting.key)
            }
            (io::ErrorKind::PermissionDenied, None) => {
                format!(
                    "; signpost.socket lets systemd bind [::]:80 and [::]:443: `systemctl enable --now signpost.socket`; in a \
                     container, set `{}` to a port above 1023 and publish that",
                    setting.key
                )
            }
            (io::ErrorKind::AddrInUse, None) => "; `signpost check` says which program has it".to_owned(),
            (_, None) => String::new(),
        };
        anyhow::anyhow!("{}: cannot listen on {address}: {error}{advice}", setting.key)
    })
}

/// The running servers.
pub(crate) struct Servers {
    api: ApiServer,
    links: EdgeServer,
    dashboard: Option<DashboardServer>,
    https: Option<HttpsServer>,
    metrics: Option<MetricsServer>,
}

/// What the servers need beside the application.
pub(crate) struct ServerSettings {
    pub(crate) links: EdgeOptions,
    pub(crate) dashboard: DashboardSettings,
    pub(crate) https: Option<HttpsOptions>,
    pub(crate) hosts: Hosts,
    /// The listeners whose connections begin with the header of a balancer.
    pub(crate) balanced: BTreeSet<BalancedListener>,
    pub(crate) connections: Connections,
}

/// What the dashboard shows of its surroundings.
pub(crate) struct DashboardSettings {
    pub(crate) origin: DashboardOrigin,
    /// The origin of the API, for the examples on pages.
    pub(crate) api_url: String,
}

impl Servers {
    /// Starts the servers.
    ///
    /// # Errors
    /// A server cannot be started.
    pub(crate) fn start(
        sockets: Sockets,
        app: &Arc<Application>,
        settings: ServerSettings,
        pools: Vec<PoolSampler>,
    ) -> Result<Self> {
        let Sockets { api, links, dashboard, tls, metrics } = sockets;
        let ServerSettings {
            links: link_options,
            dashboard: dashboard_settings,
            https,
            hosts,
            balanced,
            connections,
        } = settings;
        signpost_listener::describe_metrics();
        let api_options = ApiOptions {
            workers: workers(),
            connections: connections.each,
            reads_proxy_protocol: balanced.contains(&BalancedListener::Api),
        };
        let api = ApiServer::start(api, Arc::clone(app), api_options).context("cannot start the API")?;
        let links = EdgeServer::start(links, Arc::clone(app), link_options)
            .context("cannot start the link listener")?;
        let dashboard = dashboard
            .map(|socket| {
                let DashboardSettings { origin, api_url } = dashboard_settings;
                let options = DashboardOptions {
                    workers: workers(),
                    connections: connections.each,
                    origin,
                    api_url,
                    reads_proxy_protocol: balanced.contains(&BalancedListener::Dashboard),
                    times: Times::default(),
                };
                DashboardServer::start(socket, Arc::clone(app), options).context("cannot start the dashboard")
            })
            .transpose()?;
        let services = HttpsServices {
            links: links.workers(),
            link_refusals: links.refusals(),
            api: api.workers(),
            dashboard: dashboard.as_ref().map(DashboardServer::workers),
            hosts,
        };
        let certificates = https.as_ref().map(|https| Arc::clone(&https.certificates.served));
        let https = match (tls, https) {
            (Some(socket), Some(options)) => Some(
                HttpsServer::start(socket, Arc::clone(app), services, options)
                    .context("cannot start the HTTPS listener")?,
            ),
            (_, _) => None,
        };
        let sampled = SampledMetrics {
            started: app.clock.now(),
            durations: links.durations(),
            pools,
            certificates,
            clock: Arc::clone(&app.clock),
        };
        let metrics = metrics
            .map(|socket| start_metrics(socket, Arc::clone(app), sampled, connections.metrics))
            .transpose()?;
        Ok(Self { api, links, dashboard, https, metrics })
    }

    /// Waits until a listener fails.
    pub(crate) async fn ended(&mut self) -> anyhow::Error {
        let (listener, outcome) = tokio::select! {
            outcome = self.api.ended() => ("API", outcome),
            outcome = self.links.ended() => ("link", outcome),
            outcome = ended(self.dashboard.as_mut(), DashboardServer::ended) => ("dashboard", outcome),
            outcome = ended(self.https.as_mut(), HttpsServer::ended) => ("HTTPS", outcome),
            outcome = ended(self.metrics.as_mut(), MetricsServer::ended) => ("metrics", outcome),
        };
        let cause = outcome.err().map_or_else(String::new, |error| format!(": {error}"));
        anyhow::anyhow!("the {listener} listener stopped unexpectedly{cause}")
    }

    /// Stops accepting, and returns when running requests are answered or their time is up.
    pub(crate) async fn stop(self) {
        let Self { api, links, dashboard, https, metrics } = self;
        let stop_dashboard = async {
            match dashboard {
                Some(dashboard) => dashboard.stop(true).await,
                None => Ok(()),
            }
        };
        let stop_https = async {
            match https {
                Some(https) => https.stop().await,
                None => Ok(()),
            }
        };
        let (api, (links, https), dashboard) =
            tokio::join!(api.stop(true), links.stop_beside(true, stop_https), stop_dashboard);
        let metrics = match metrics {
            Some(metrics) => metrics.stop().await,
            None => Ok(()),
        };
        for (listener, outcome) in
            [("HTTPS", https), ("API", api), ("link", links), ("dashboard", dashboard), ("metrics", metrics)]
        {
            if let Err(error) = outcome {
                tracing::error!(listener, %error, "a listener stopped unexpectedly");
            }
        }
    }
}

/// Waits until a server ends, if there is one.
async fn ended<S>(
    server: Option<&mut S>,
    ended: impl AsyncFnOnce(&mut S) -> io::Result<()>,
) -> io::Result<()> {
    match server {
        Some(server) => ended(server).await,
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
