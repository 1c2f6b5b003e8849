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
    /// The deadlines of connections.
    pub times: Times,
}

/// A running dashboard listener. Dropping it stops it without waiting for running requests.
#[derive(Debug)]
#[must_use = "dropping it stops the listener"]
pub struct DashboardServer(Listener);

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
        let DashboardOptions { workers, connections, origin, api_url, times } = options;
        METRICS.describe();
        let trusted = Arc::clone(&app);
        let proxies = Proxies::new(move |peer| trusted.client_addresses.trusts(peer));
        let options =
            ListenerOptions { connections, proxies, times, ..ListenerOptions::new("dashboard", workers) };
        let dashboard = DashboardWorkers::new(app, origin, &api_url);
        let refusals: Arc<dyn ListenerRefusals> = Arc::<RequestLayer<_>>::clone(&dashboard.layer);
        Listener::start(listener, &options, &refusals, move || dashboard.service()).map(Self)
    }

    /// The address that the listener is bound to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Waits until the listener ends. Without a call to [`Self::stop`], it ends only on failure.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        self.0.ended().await
    }

    /// Stops accepting connections and ends. With `graceful`, running requests get up to 30 seconds to finish (D64); otherwise
    /// they are dropped.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(self, graceful: bool) -> io::Result<()> {
        self.0.stop(graceful).await
    }
}
