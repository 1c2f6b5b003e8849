//! The API listener as a whole.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_service::{IntoServiceFactory as _, ServiceFactoryExt as _, map_config};
use actix_web::dev::{AppConfig, Server, ServerHandle, ServiceFactory, fn_service};
use actix_web::rt::net::TcpStream;
use signpost_app::Application;
use tokio::task::JoinHandle;

use crate::api_app::{Shared, api_app_with};
use crate::connection::Connection;
use crate::middleware::access_log::describe_metrics;

/// How long a connection may be idle between two requests. Longer than the minute that common load balancers keep
/// theirs, so that it is they who close.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long the head of a connection's first request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a connection that is being closed is still read from, so that a client which is still sending gets
/// the answer and not a reset.
const DISCONNECT_TIME: Duration = Duration::from_secs(3);

/// How long running requests may take to finish when the listener stops (D64).
const STOPPING_SECONDS: u64 = 30;

/// More threads than this the framework does not start.
const MOST_WORKERS: usize = 512;

/// How the listener runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiOptions {
    /// How many threads answer requests.
    pub workers: NonZeroUsize,
}

/// A running API listener. Dropping it stops it without waiting for running requests.
#[derive(Debug)]
#[must_use = "dropping it stops the listener"]
pub struct ApiServer {
    handle: ServerHandle,
    address: SocketAddr,
    running: JoinHandle<io::Result<()>>,
}

impl ApiServer {
    /// Starts answering the API's requests on a listening socket. It must be called within a Tokio runtime, which
    /// looks after the worker threads. Signals are left to the caller.
    ///
    /// # Errors
    /// The socket cannot be used.
    pub fn start(listener: TcpListener, app: Arc<Application>, options: ApiOptions) -> io::Result<Self> {
        let ApiOptions { workers } = options;
        describe_metrics();
        let address = listener.local_addr()?;
        let builder = Server::build()
            .workers(workers.get().min(MOST_WORKERS))
            .shutdown_timeout(STOPPING_SECONDS)
            .disable_signals();
        let stopping = builder.graceful_shutdown_signal();
        let stopping = move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        };
        let shared = Shared::default();
        let worker = move || service(Arc::clone(&app), shared.clone(), stopping.clone());
        let server = builder.listen("api", listener, worker)?.run();
        let handle = server.handle();
        Ok(Self { handle, address, running: tokio::spawn(server) })
    }

    /// The address that the listener is bound to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the listener ends, which it does by itself only if it fails.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        (&mut self.running).await?
    }

    /// Stops accepting connections and ends. With `graceful`, running requests get up to 30 seconds to finish;
    /// otherwise they are dropped.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(mut self, graceful: bool) -> io::Result<()> {
        self.handle.stop(graceful).await;
        if self.running.is_finished() { Ok(()) } else { self.ended().await }
    }
}

/// What one worker does with each of its connections. It is what the framework's own HTTP server does, but for the
/// [`Connection`] around the socket. Connections that are idle when `stopping` is done are closed.
fn service<F: Future<Output = ()> + 'static>(
    app: Arc<Application>,
    shared: Shared,
    stopping: impl Fn() -> F + 'static,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> {
    let api = api_app_with(Arc::clone(&app), shared).into_factory().map_err(|error| error.error_response());
    let http = HttpService::build()
        .graceful_shutdown_signal(stopping)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD_TIME)
        .client_disconnect_timeout(DISCONNECT_TIME)
        .finish(map_config(api, |()| AppConfig::default()));
    let connect = move |stream: TcpStream| {
        // Answers are small and written whole; waiting for more would only delay them. If the system refuses this,
        // they are delayed.
        let _ = stream.set_nodelay(true);
        let peer = stream.peer_addr().ok();
        let connection = Connection::new(stream, Arc::clone(&app));
        std::future::ready(Ok::<_, DispatchError>((connection, actix_http::Protocol::Http1, peer)))
    };
    fn_service(connect).and_then(http)
}
