//! Starting and stopping the listener.

use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};
use signpost_app::Application;
use signpost_app::admission::address_throttle::AddressThrottle;
use tokio::task::JoinHandle;

use crate::outage_log::OutageLog;
use crate::pages::Pages;
use crate::visit::{Edge, VISITS_METRIC, answer};

/// How long a connection may be idle between two requests. Longer than the minute that common load balancers keep
/// theirs, so that it is they who close.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long the head of a request may take to arrive.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a graceful stop lets running requests go on (D64).
const STOPPING_SECONDS: u64 = 30;

/// How the link listener behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeOptions {
    /// How many misses an address may have within a calendar minute before it gets the 429 page until the minute
    /// ends; 0 means any number (D54).
    pub miss_throttle_per_minute: u32,
    /// How many threads answer visits.
    pub workers: NonZeroUsize,
}

/// The running link listener.
///
/// It answers GET and HEAD for public links with a redirect (D53), and everything that leads nowhere with one
/// and the same page (D54). Dropping it leaves it running; [`Self::stop`] stops it.
#[derive(Debug)]
pub struct EdgeServer {
    handle: ServerHandle,
    task: JoinHandle<io::Result<()>>,
}

impl EdgeServer {
    /// Starts to accept on `listener`. It must be called within a Tokio runtime; the threads that answer are its
    /// own. It installs no signal handlers.
    ///
    /// # Errors
    /// The listener cannot be used, or the pages cannot be rendered.
    pub fn start(listener: TcpListener, app: Arc<Application>, options: EdgeOptions) -> io::Result<Self> {
        let EdgeOptions { miss_throttle_per_minute, workers } = options;
        metrics::describe_counter!(VISITS_METRIC, "Visits to the link listener, by what they came to.");
        let edge = web::Data::new(Edge {
            app,
            pages: Pages::render().map_err(io::Error::other)?,
            misses: AddressThrottle::new(miss_throttle_per_minute),
            outages: OutageLog::default(),
        });
        let server =
            HttpServer::new(move || App::new().app_data(edge.clone()).default_service(web::to(answer)))
                .workers(workers.get())
                .keep_alive(KEEP_ALIVE)
                .client_request_timeout(HEAD_TIME)
                .shutdown_timeout(STOPPING_SECONDS)
                .tcp_nodelay(true)
                .disable_signals()
                .listen(listener)?
                .run();
        Ok(Self { handle: server.handle(), task: tokio::spawn(server) })
    }

    /// Waits until the listener ends, which it does by itself only if it fails.
    ///
    /// # Errors
    /// It failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        (&mut self.task).await.map_err(io::Error::other)?
    }

    /// Stops accepting. A graceful stop returns when the running requests are finished, after 30 seconds at most;
    /// any other at once.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(mut self, graceful: bool) -> io::Result<()> {
        self.handle.stop(graceful).await;
        // A task that was seen to end in `ended` must not be asked again.
        if self.task.is_finished() { Ok(()) } else { self.ended().await }
    }
}
