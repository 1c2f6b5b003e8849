//! Starts and stops a listener.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use actix_http::body::{BoxBody, MessageBody};
use actix_http::{Request, Response};
use actix_service::{IntoServiceFactory, ServiceFactory};
use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::accept::Acceptor;
#[cfg(target_os = "linux")]
use crate::accept::configure_listening;
use crate::entrance::{Entrance, HandshakeCounters};
use crate::head_memory::HeadMemory;
use crate::options::ListenerOptions;
use crate::reply::{ListenerRefusals, Reply};
use crate::worker::{self, Peer, Setup, Stop, Worker};

/// A running listener. Dropping it stops it without waiting for running requests.
#[derive(Debug)]
#[must_use = "dropping it stops the listener"]
pub struct Listener {
    address: SocketAddr,
    stop: watch::Sender<Stop>,
    /// `None` after it has ended.
    running: Option<JoinHandle<io::Result<()>>>,
}

impl Listener {
    /// Starts answering requests on a listening socket. Each worker gets its own service from `factory`. The
    /// caller must be within a Tokio runtime, and handles signals.
    ///
    /// # Errors
    ///
    /// The socket cannot be used, or a thread cannot be started.
    pub fn start<F, I, S, B>(
        socket: TcpListener,
        options: &ListenerOptions,
        refusals: &Arc<dyn ListenerRefusals>,
        factory: F,
    ) -> io::Result<Self>
    where
        F: Fn() -> I + Clone + Send + 'static,
        I: IntoServiceFactory<S, Request>,
        S: ServiceFactory<Request, Config = ()> + 'static,
        S::Response: Into<Reply<B>>,
        S::Error: Into<Response<BoxBody>>,
        B: MessageBody + 'static,
    {
        let ListenerOptions {
            name,
            workers,
            connections,
            door,
            ref proxies,
            encodes_targets,
            reads_proxy_protocol,
            ref tls,
            times,
            head_memory,
        } = *options;
        socket.set_nonblocking(true)?;
        #[cfg(target_os = "linux")]
        configure_listening(&socket);
        let address = socket.local_addr()?;
        let (stop, stopped) = watch::channel(Stop::No);
        let (stop_workers, workers_stopped) = watch::channel(Stop::No);
        let acceptor = Arc::new(Acceptor::new(connections, proxies, name, tls.is_some()));
        let entrance = Arc::new(Entrance {
            reads_proxy_protocol,
            proxies: proxies.clone(),
            tls: tls.clone(),
            times,
            counters: HandshakeCounters::new(name, tls.is_some()),
        });
        let head_memory = HeadMemory::new(head_memory);
        let (peers, inboxes): (Vec<Peer>, Vec<_>) = (0..workers.get()).map(|_| Peer::new()).unzip();
        let peers: Arc<[Peer]> = peers.into();
        let mut started = Vec::new();
        for (number, inbox) in inboxes.into_iter().enumerate() {
            started.push(worker::start(Setup {
                thread_name: format!("{name} {number}"),
                listener: name,
                factory: factory.clone(),
                refusals: Arc::clone(refusals),
                door,
                encodes_targets,
                times,
                entrance: Arc::clone(&entrance),
                head_memory: Arc::clone(&head_memory),
                stop: workers_stopped.clone(),
                socket: socket.try_clone()?,
                acceptor: Arc::clone(&acceptor),
                inbox,
                peers: Arc::clone(&peers),
            })?);
        }
        // From here only the workers hold the socket, so the system refuses connections once they have closed
        // it.
        drop(socket);
        let running = tokio::spawn(run(started, stopped, stop_workers));
        Ok(Self { address, stop, running: Some(running) })
    }

    /// The bound address of the listener.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the listener ends. It ends only if it fails or is stopped.
    ///
    /// # Errors
    ///
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
    ///
    /// The listener failed, and [`ended`](Self::ended) has not reported it.
    pub async fn stop(mut self, graceful: bool) -> io::Result<()> {
        self.stop.send_replace(if graceful { Stop::Gracefully } else { Stop::Now });
        self.ended().await
    }
}

/// Waits for the order to stop, and then for the workers. Workers whose `stop_workers` is dropped stop at
/// once.
async fn run(
    workers: Vec<Worker>,
    mut stop: watch::Receiver<Stop>,
    stop_workers: watch::Sender<Stop>,
) -> io::Result<()> {
    let mut all_ended = Vec::new();
    for Worker { ready, ended } in workers {
        ready.await.map_err(io::Error::other)??;
        all_ended.push(ended);
    }
    // An error means that the thread is gone too.
    let mut all_ended = join_all(all_ended);
    tokio::select! {
        _ = stop.wait_for(|stop| *stop != Stop::No) => {}
        _ = &mut all_ended => return Err(io::Error::other("the worker threads ended")),
    }
    stop_workers.send_replace(*stop.borrow_and_update());
    loop {
        tokio::select! {
            _ = &mut all_ended => return Ok(()),
            // An immediate stop may also follow a graceful one.
            changed = stop.changed() => {
                let next = if changed.is_ok() { *stop.borrow_and_update() } else { Stop::Now };
                stop_workers.send_replace(next);
                if changed.is_err() {
                    _ = all_ended.await;
                    return Ok(());
                }
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.send_replace(Stop::Now);
    }
}
