//! The API listener.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;

use signpost_app::Application;
use signpost_listener::{Listener, ListenerOptions, Proxies, Times};

use crate::api_service::{ApiWorkers, METRICS};
use crate::health;

/// Options of the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiOptions {
    /// The number of threads that handle requests.
    pub workers: NonZeroUsize,
    /// The limit of open connections. Beyond it, only health checks are answered; everything else gets a 503.
    pub connections: usize,
    /// Whether each connection begins with the header of a balancer (D197).
    pub reads_proxy_protocol: bool,
}

/// A running API listener. Dropping it stops it without waiting for running requests.
#[must_use = "dropping it stops the listener"]
pub struct ApiServer {
    listener: Listener,
    workers: ApiWorkers,
}

impl ApiServer {
    /// Starts the API on a listening socket. The caller's Tokio runtime accepts the connections. Signals are up to the caller.
    ///
    /// # Errors
    /// The socket cannot be used, or a thread cannot be started.
    pub fn start(listener: TcpListener, app: Arc<Application>, options: ApiOptions) -> io::Result<Self> {
        Self::start_with_times(listener, app, options, Times::default())
    }

    /// Like [`start`](Self::start), with other deadlines of connections. Tests need longer ones, because a busy machine may
    /// pause their clients.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn start_with_times(
        listener: TcpListener,
        app: Arc<Application>,
        options: ApiOptions,
        times: Times,
    ) -> io::Result<Self> {
        let ApiOptions { workers, connections, reads_proxy_protocol } = options;
        METRICS.describe();
        let door = health::is_probe;
        let trusted = Arc::clone(&app);
        let proxies = Proxies::new(move |peer| trusted.client_addresses.trusts(peer));
        let options = ListenerOptions {
            connections,
            door,
            proxies,
            reads_proxy_protocol,
            times,
            ..ListenerOptions::new("api", workers)
        };
        let api = ApiWorkers::new(app);
        let refusals = api.refusals();
        let workers = api.clone();
        let listener = Listener::start(listener, &options, &refusals, move || api.service())?;
        Ok(Self { listener, workers })
    }

    /// The services of the API, for a listener that speaks TLS.
    #[must_use]
    pub fn workers(&self) -> ApiWorkers {
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

    /// Stops accepting connections and ends. With `graceful`, running requests get up to 30 seconds to finish (D64);
    /// otherwise they are dropped.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(self, graceful: bool) -> io::Result<()> {
        self.listener.stop(graceful).await
    }
}
