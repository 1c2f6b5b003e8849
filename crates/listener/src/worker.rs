//! A thread that drives connections.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::pin;
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

use crate::accept::Reception;
use crate::buffers::Buffers;
use crate::connection::{Answering, drive};
use crate::door::Ticket;
use crate::options::Times;
use crate::refusal::Refusals;
use crate::reply::Reply;
use crate::watch::Sweeper;
use crate::wire::Wire;

/// A connection on its way from one worker to another.
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

/// Where a worker takes connections from others, and how busy it is.
#[derive(Clone)]
pub(crate) struct Peer {
    connections: mpsc::UnboundedSender<Accepted>,
    /// How many connections it has, those on their way to it included.
    load: Arc<AtomicUsize>,
}

/// The end of a peer that its worker has.
pub(crate) struct Inbox {
    connections: mpsc::UnboundedReceiver<Accepted>,
    load: Arc<AtomicUsize>,
}

impl Peer {
    pub(crate) fn new() -> (Self, Inbox) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let load = Arc::<AtomicUsize>::default();
        (Self { connections: sender, load: Arc::clone(&load) }, Inbox { connections: receiver, load })
    }

    fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    /// Hands over a connection. A worker that takes none any more gives it back.
    fn take(&self, accepted: Accepted) -> Result<(), Accepted> {
        self.load.fetch_add(1, Ordering::Relaxed);
        self.connections.send(accepted).map_err(|refused| {
            self.load.fetch_sub(1, Ordering::Relaxed);
            refused.0
        })
    }
}

/// The worker that a connection goes to instead of the one that accepted it and has `load`. The few connections of a proxy must
/// not all be one worker's; of many, those that end soon even out by themselves, and a hand-over would only cost.
fn less_busy(peers: &[Peer], load: usize) -> Option<&Peer> {
    let least = peers.iter().filter(|peer| !peer.connections.is_closed()).min_by_key(|peer| peer.load())?;
    let enough = least.load() + least.load() / 8;
    (load > enough).then_some(least)
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
    pub(crate) socket: TcpListener,
    pub(crate) reception: Arc<Reception>,
    pub(crate) inbox: Inbox,
    /// All workers, this one included.
    pub(crate) peers: Arc<[Peer]>,
}

/// A worker's thread, from outside.
pub(crate) struct Worker {
    /// Tells when it is ready, or why it is not.
    pub(crate) ready: oneshot::Receiver<io::Result<()>>,
    /// Ends when the thread has let go of all connections and of the service.
    pub(crate) ended: oneshot::Receiver<()>,
}

/// Starts a worker.
pub(crate) fn start<F, I, S, B>(setup: Setup<F>) -> io::Result<Worker>
where
    F: FnOnce() -> I + Send + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = ()> + 'static,
    S::Response: Into<Reply<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody + 'static,
{
    let (ready_sender, ready) = oneshot::channel();
    let (ended_sender, ended) = oneshot::channel::<()>();
    let runtime = move || Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    thread::Builder::new().name(setup.thread_name.clone()).spawn(move || {
        match runtime() {
            Ok(runtime) => {
                runtime.block_on(work(setup, ready_sender));
                // Without waiting for threads that a request has left behind.
                runtime.shutdown_background();
            }
            // The receiver waits for nothing else.
            Err(error) => drop(ready_sender.send(Err(error))),
        }
        let _ = ended_sender.send(());
    })?;
    Ok(Worker { ready, ended })
}

async fn work<F, I, S, B>(setup: Setup<F>, ready: oneshot::Sender<io::Result<()>>)
where
    F: FnOnce() -> I,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = ()> + 'static,
    S::Response: Into<Reply<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody + 'static,
{
    let Setup {
        thread_name: _,
        listener,
        factory,
        refusals,
        door,
        times,
        mut stop,
        socket,
        reception,
        inbox: Inbox { connections: mut handed_over, load },
        peers,
    } = setup;
    let socket = match tokio::net::TcpListener::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => {
            drop(ready.send(Err(error)));
            return;
        }
    };
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
    let (sweeper, buffers, open) =
        (Sweeper::new(times.tick()), Rc::<Buffers>::default(), Rc::<Open>::default());
    let sweeping = tokio::task::spawn_local({
        let sweeper = Rc::clone(&sweeper);
        async move { sweeper.sweep().await }
    });
    let take = |stream: tokio::net::TcpStream, peer, ticket| {
        let counted = open.count(&load);
        let wire = Wire::new(stream, Codec::new(config.clone()), Rc::clone(&buffers), sweeper.watch(), times);
        let answering = Rc::clone(&answering);
        tokio::task::spawn_local(async move {
            drive(ticket, peer, Rc::new(wire), answering).await;
            drop(counted);
        });
    };
    let take_own = |stream, peer, ticket| {
        load.fetch_add(1, Ordering::Relaxed);
        take(stream, peer, ticket);
    };
    let take_handed_over =
        |Accepted { stream, peer, ticket }: Accepted| match tokio::net::TcpStream::from_std(stream) {
            Ok(stream) => take(stream, peer, ticket),
            Err(_) => _ = load.fetch_sub(1, Ordering::Relaxed),
        };
    let take_or_hand_over = |stream: tokio::net::TcpStream, peer, ticket| {
        let Some(other) = less_busy(&peers, load.load(Ordering::Relaxed)) else {
            return take_own(stream, peer, ticket);
        };
        let Ok(stream) = stream.into_std() else { return };
        if let Err(accepted) = other.take(Accepted { stream, peer, ticket }) {
            load.fetch_add(1, Ordering::Relaxed);
            take_handed_over(accepted);
        }
    };
    {
        let mut accepting = pin!(reception.accept(&socket, take_or_hand_over));
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop != Stop::No) => break,
                Some(next) = handed_over.recv() => take_handed_over(next),
                () = &mut accepting => {}
            }
        }
    }
    // Those that came before the stop are still served, by whoever accepts them now.
    reception.accept_the_last(&socket, take_own).await;
    drop(socket);
    handed_over.close();
    while let Ok(next) = handed_over.try_recv() {
        take_handed_over(next);
    }
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
