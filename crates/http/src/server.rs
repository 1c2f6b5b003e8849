//! The API listener as a whole.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;

use actix_http::Response;
use actix_service::{IntoServiceFactory as _, ServiceFactoryExt as _, map_config};
use actix_web::dev::AppConfig;
use signpost_app::Application;
use signpost_listener::{Listener, ListenerOptions, Refusals, Reply};

use crate::api_app::{Shared, api_app_with};
use crate::health;
use crate::middleware::access_log::describe_metrics;
use crate::refusals::ApiRefusals;

/// How the listener runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiOptions {
    /// How many threads answer requests.
    pub workers: NonZeroUsize,
    /// How many connections there may be at once. Beyond, health checks are still answered, and everything else gets a
    /// 503.
    pub connections: usize,
}

/// A running API listener. Dropping it stops it without waiting for running requests.
#[derive(Debug)]
#[must_use = "dropping it stops the listener"]
pub struct ApiServer(Listener);

impl ApiServer {
    /// Starts answering the API's requests on a listening socket. It must be called within a Tokio runtime, which
    /// accepts the connections. Signals are left to the caller.
    ///
    /// # Errors
    /// The socket cannot be used, or a thread cannot be started.
    pub fn start(listener: TcpListener, app: Arc<Application>, options: ApiOptions) -> io::Result<Self> {
        let ApiOptions { workers, connections } = options;
        describe_metrics();
        let options =
            ListenerOptions { connections, door: health::is_probe, ..ListenerOptions::new("api", workers) };
        let refusals: Arc<dyn Refusals> = Arc::new(ApiRefusals::new(Arc::clone(&app)));
        let shared = Shared::default();
        let service = move || {
            let api = api_app_with(Arc::clone(&app), shared.clone()).into_factory();
            map_config(api, |()| AppConfig::default()).map(|response| {
                let response: Response<_> = response.into();
                Reply::from(response)
            })
        };
        Listener::start(listener, &options, &refusals, service).map(Self)
    }

    /// The address that the listener is bound to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Waits until the listener ends, which it does by itself only if it fails.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        self.0.ended().await
    }

    /// Stops accepting connections and ends. With `graceful`, running requests get up to 30 seconds to finish (D64);
    /// otherwise they are dropped.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(self, graceful: bool) -> io::Result<()> {
        self.0.stop(graceful).await
    }
}
