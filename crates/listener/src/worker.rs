//! A thread that drives connections.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use actix_http::body::{BoxBody, MessageBody};
use actix_http::h1::Codec;
use actix_http::{KeepAlive, Request, Response, ServiceConfig};
use actix_service::{IntoServiceFactory, ServiceFactory};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::buffers::Buffers;
use crate::connection::{Answering, drive};
use crate::door::Ticket;
use crate::options::Times;
use crate::refusal::Refusals;
use crate::watch::Sweeper;
use crate::wire::Wire;

/// A connection on its way to a worker.
pub(crate) struct Accepted {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) ticket: Ticket,
}

/// How a listener is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is not.
    No,
    /// Requests that run may finish.
    Gracefully,
    /// At once.
    Now,
}

/// What is known of a worker outside its thread.
pub(crate) struct Worker {
    connections: mpsc::UnboundedSender<Accepted>,
    /// How many connections it has, those on their way to it included.
    load: Arc<AtomicUsize>,
    ended: oneshot::Receiver<()>,
}

impl Worker {
    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    /// Hands over a connection. A worker that has ended drops it.
    pub(crate) fn take(&self, accepted: Accepted) {
        self.load.fetch_add(1, Ordering::Relaxed);
        if self.connections.send(accepted).is_err() {
            self.load.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether its thread still runs.
    pub(crate) fn is_running(&self) -> bool {
        !self.connections.is_closed()
    }

    /// Waits until its thread has let go of all connections and of the service.
    pub(crate) async fn ended(self) {
        drop(self.connections);
        // An error says that the thread is gone too.
        let _ = self.ended.await;
    }
}

/// What a worker's thread needs to begin.
pub(crate) struct Setup<F> {
    pub(crate) thread_name: String,
    pub(crate) listener: &'static str,
    pub(crate) factory: F,
    pub(crate) refusals: Arc<dyn Refusals>,
    pub(crate) door: fn(&str) -> bool,
    pub(crate) times: Times,
    pub(crate) stop: watch::Receiver<Stop>,
}

/// Starts a worker. The receiver tells when it is ready, or why it is not.
pub(crate) fn start<F, I, S, B>(setup: Setup<F>) -> io::Result<(Worker, oneshot::Receiver<io::Result<()>>)>
where
    F: FnOnce() -> I + Send + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = ()> + 'static,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody + 'static,
{
    let (connections, accepted) = mpsc::unbounded_channel();
    let (ready_sender, ready) = oneshot::channel();
    let (ended_sender, ended) = oneshot::channel::<()>();
    let load = Arc::<AtomicUsize>::default();
    let of_thread = Arc::clone(&load);
    let runtime = move || Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    thread::Builder::new().name(setup.thread_name.clone()).spawn(move || {
        match runtime() {
            Ok(runtime) => {
                runtime.block_on(work(setup, accepted, of_thread, ready_sender));
                // Without waiting for threads that a request has left behind.
                runtime.shutdown_background();
            }
            // The receiver waits for nothing else.
            Err(error) => drop(ready_sender.send(Err(error))),
        }
        let _ = ended_sender.send(());
    })?;
    Ok((Worker { connections, load, ended }, ready))
}

async fn work<F, I, S, B>(
    setup: Setup<F>,
    mut accepted: mpsc::UnboundedReceiver<Accepted>,
    load: Arc<AtomicUsize>,
    ready: oneshot::Sender<io::Result<()>>,
) where
    F: FnOnce() -> I,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = ()> + 'static,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody + 'static,
{
    let Setup { thread_name: _, listener, factory, refusals, door, times, mut stop } = setup;
    let Ok(service) = factory().into_factory().new_service(()).await else {
        drop(ready.send(Err(io::Error::other("the service cannot be made"))));
        return;
    };
    if ready.send(Ok(())).is_err() {
        return;
    }
    let answering = Rc::new(Answering { service, refusals, listener, door });
    // The codec wants to know of it only whether connections are kept at all; all times are ours.
    let config = ServiceConfig::new(KeepAlive::Os, Duration::ZERO, Duration::ZERO, false, None);
    let (sweeper, buffers, open) = (Sweeper::new(), Rc::<Buffers>::default(), Rc::<Open>::default());
    let sweeping = tokio::task::spawn_local({
        let sweeper = Rc::clone(&sweeper);
        async move { sweeper.sweep(times.tick()).await }
    });
    let take = |Accepted { stream, peer, ticket }: Accepted| {
        let counted = open.count(&load);
        let Ok(stream) = tokio::net::TcpStream::from_std(stream) else { return };
        let wire = Wire::new(stream, Codec::new(config.clone()), Rc::clone(&buffers), sweeper.watch(), times);
        let answering = Rc::clone(&answering);
        tokio::task::spawn_local(async move {
            drive(ticket, peer, Rc::new(wire), answering).await;
            drop(counted);
        });
    };
    loop {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop != Stop::No) => break,
            next = accepted.recv() => match next {
                Some(next) => take(next),
                None => break,
            },
        }
    }
    // Those that came before the stop are still served.
    while let Ok(next) = accepted.try_recv() {
        take(next);
    }
    drop(accepted);
    sweeper.stop();
    tokio::select! {
        () = open.none() => {}
        _ = stop.wait_for(|stop| *stop == Stop::Now) => {}
        () = tokio::time::sleep(times.stopping) => {}
    }
    sweeping.abort();
}

/// Counts the connections of a worker.
#[derive(Debug, Default)]
struct Open {
    count: Cell<usize>,
    is_none: Notify,
}

impl Open {
    fn count(self: &Rc<Self>, load: &Arc<AtomicUsize>) -> Counted {
        self.count.set(self.count.get() + 1);
        Counted { open: Rc::clone(self), load: Arc::clone(load) }
    }

    /// Waits until there is none.
    async fn none(&self) {
        while self.count.get() > 0 {
            self.is_none.notified().await;
        }
    }
}

/// A connection that counts until it is dropped.
struct Counted {
    open: Rc<Open>,
    load: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.load.fetch_sub(1, Ordering::Relaxed);
        let left = self.open.count.get().saturating_sub(1);
        self.open.count.set(left);
        if left == 0 {
            self.open.is_none.notify_one();
        }
    }
}
