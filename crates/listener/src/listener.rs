//! A listener as a whole: started and stopped.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use actix_http::body::{BoxBody, MessageBody};
use actix_http::{Request, Response};
use actix_service::{IntoServiceFactory, ServiceFactory};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::accept::accept;
use crate::options::ListenerOptions;
use crate::refusal::Refusals;
use crate::worker::{self, Setup, Stop};

/// A running listener. Dropping it stops it without waiting for running requests.
#[derive(Debug)]
#[must_use = "dropping it stops the listener"]
pub struct Listener {
    address: SocketAddr,
    stop: watch::Sender<Stop>,
    /// `None` once it was seen to end.
    running: Option<JoinHandle<io::Result<()>>>,
}

impl Listener {
    /// Starts answering requests on a listening socket, each worker with a service of its own from `factory`. It must be
    /// called within a Tokio runtime, which accepts the connections. Signals are left to the caller.
    ///
    /// # Errors
    /// The socket cannot be used, or a thread cannot be started.
    pub fn start<F, I, S, B>(
        socket: TcpListener,
        options: &ListenerOptions,
        refusals: &Arc<dyn Refusals>,
        factory: F,
    ) -> io::Result<Self>
    where
        F: Fn() -> I + Clone + Send + 'static,
        I: IntoServiceFactory<S, Request>,
        S: ServiceFactory<Request, Config = ()> + 'static,
        S::Response: Into<Response<B>>,
        S::Error: Into<Response<BoxBody>>,
        B: MessageBody + 'static,
    {
        let ListenerOptions { name, workers, connections, door, times } = *options;
        socket.set_nonblocking(true)?;
        let socket = tokio::net::TcpListener::from_std(socket)?;
        let address = socket.local_addr()?;
        let (stop, stopped) = watch::channel(Stop::No);
        let (stop_workers, workers_stopped) = watch::channel(Stop::No);
        let mut started = Vec::new();
        let mut starting = Vec::new();
        for number in 0..workers.get() {
            let (worker, ready) = worker::start(Setup {
                thread_name: format!("{name} {number}"),
                listener: name,
                factory: factory.clone(),
                refusals: Arc::clone(refusals),
                door,
                times,
                stop: workers_stopped.clone(),
            })?;
            started.push(worker);
            starting.push(ready);
        }
        let running = tokio::spawn(async move {
            for ready in starting {
                ready.await.map_err(io::Error::other)??;
            }
            accept(socket, started, connections, name, stopped, stop_workers).await
        });
        Ok(Self { address, stop, running: Some(running) })
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
        let Some(running) = &mut self.running else { return Ok(()) };
        let ended = running.await.map_err(io::Error::other);
        self.running = None;
        ended?
    }

    /// Stops accepting connections and ends. With `graceful`, running requests get
    /// [`Times::stopping`](crate::Times::stopping) to finish; otherwise they are dropped.
    ///
    /// # Errors
    /// The listener failed, and [`ended`](Self::ended) has not said so before.
    pub async fn stop(mut self, graceful: bool) -> io::Result<()> {
        self.stop.send_replace(if graceful { Stop::Gracefully } else { Stop::Now });
        self.ended().await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.send_replace(Stop::Now);
    }
}
