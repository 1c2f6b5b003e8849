//! The dashboard's listener.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;

use signpost_app::Application;
use signpost_listener::{Listener, ListenerOptions, ListenerRefusals, Proxies, Times};
use signpost_request_layer::RequestLayer;

use crate::origin::DashboardOrigin;
use crate::service::{DashboardWorkers, METRICS};

/// Options of the listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DashboardOptions {
    /// The number of threads that handle requests.
    pub workers: NonZeroUsize,
    /// The limit of open connections.
    pub connections: usize,
    /// The origin at which people open the dashboard.
    pub origin: DashboardOrigin,
    /// The origin of the API, for the examples on pages.
    pub api_url: String,
    /// Whether each connection begins with the header of a balancer (D197).
    pub reads_proxy_protocol: bool,
    /// The deadlines of connections.
    pub times: Times,
}

/// A running dashboard listener. Dropping it stops it without waiting for running requests.
#[must_use = "dropping it stops the listener"]
pub struct DashboardServer {
    listener: Listener,
    workers: DashboardWorkers,
}

impl DashboardServer {
    /// Starts the dashboard on a listening socket. The caller's Tokio runtime accepts the connections. Signals are up to the
    /// caller.
    ///
    /// # Errors
    /// The socket cannot be used, or a thread cannot be started.
    pub fn start(
        listener: TcpListener,
        app: Arc<Application>,
        options: DashboardOptions,
    ) -> io::Result<Self> {
        let DashboardOptions { workers, connections, origin, api_url, reads_proxy_protocol, times } = options;
        METRICS.describe();
        let trusted = Arc::clone(&app);
        let proxies = Proxies::new(move |peer| trusted.client_addresses.trusts(peer));
        let options = ListenerOptions {
            connections,
            proxies,
            reads_proxy_protocol,
            times,
            ..ListenerOptions::new("dashboard", workers)
        };
        let dashboard = DashboardWorkers::new(app, origin, &api_url);
        let refusals: Arc<dyn ListenerRefusals> = Arc::<RequestLayer<_>>::clone(&dashboard.layer);
        let workers = dashboard.clone();
        let listener = Listener::start(listener, &options, &refusals, move || dashboard.service())?;
        Ok(Self { listener, workers })
    }

    /// The services of the dashboard, for a listener that speaks TLS.
    #[must_use]
    pub fn workers(&self) -> DashboardWorkers {
        self.workers.clone()
    }

    /// The address that the listener is bound to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Waits until the listener ends. Without a call to [`Self::stop`], it ends only on failure.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        self.listener.ended().await
    }

    /// Stops accepting connections and ends. With `graceful`, running requests get up to 30 seconds to finish (D64); otherwise
    /// they are dropped.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(self, graceful: bool) -> io::Result<()> {
        self.listener.stop(graceful).await
    }
}
