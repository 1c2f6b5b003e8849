//! A thread that drives connections.

use std::cell::{Cell, RefCell};
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
use actix_service::{IntoServiceFactory, Service, ServiceFactory};
use bytes::BytesMut;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::accept::Acceptor;
use crate::connection::{Responder, drive};
use crate::connection_limit::{ConnectionPermit, network_of};
use crate::door::Ticket;
use crate::entrance::{Entrance, Permits, PreambleError};
use crate::head_memory::{HeadMemory, HeadShare};
use crate::options::Times;
use crate::reply::{ListenerRefusal, ListenerRefusals, Reply};
use crate::stream::Stream;
use crate::watch::{Sweeper, Watched};
use crate::wire::Wire;

/// A connection before anything was read from it.
pub(crate) struct Accepted<S> {
    pub(crate) stream: S,
    pub(crate) peer: SocketAddr,
    pub(crate) ticket: Ticket,
    /// The permit of its TLS handshake, if the listener speaks TLS.
    pub(crate) handshake: Option<ConnectionPermit>,
}

impl<S> Accepted<S> {
    /// The same connection with its socket in another form.
    fn with_stream<T>(self, form: impl FnOnce(S) -> io::Result<T>) -> io::Result<Accepted<T>> {
        let Self { stream, peer, ticket, handshake } = self;
        Ok(Accepted { stream: form(stream)?, peer, ticket, handshake })
    }
}

/// The order to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The listener runs.
    No,
    /// Running requests may finish.
    Gracefully,
    /// Everything ends at once.
    Now,
}

/// A worker as others see it: its inbox and its load.
#[derive(Clone)]
pub(crate) struct Peer {
    connections: mpsc::UnboundedSender<Accepted<TcpStream>>,
    /// The number of its connections, including those in its inbox.
    load: Arc<AtomicUsize>,
}

/// The worker's end of its inbox.
pub(crate) struct Inbox {
    connections: mpsc::UnboundedReceiver<Accepted<TcpStream>>,
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

    /// Passes a connection on. A stopped worker returns it.
    fn take(&self, accepted: Accepted<TcpStream>) -> Result<(), Box<Accepted<TcpStream>>> {
        self.load.fetch_add(1, Ordering::Relaxed);
        self.connections.send(accepted).map_err(|refused| {
            self.load.fetch_sub(1, Ordering::Relaxed);
            Box::new(refused.0)
        })
    }
}

/// The worker that should drive a connection instead of the one that accepted it, which has `load`
/// connections. It spreads the few connections of a proxy over workers. Many connections even out as they
/// end, so passing them on would only cost.
fn less_busy_peer(peers: &[Peer], load: usize) -> Option<&Peer> {
    let least = peers.iter().filter(|peer| !peer.connections.is_closed()).min_by_key(|peer| peer.load())?;
    let enough = least.load() + least.load() / 8;
    (load > enough).then_some(least)
}

/// What a worker's thread needs to start.
pub(crate) struct Setup<F> {
    pub(crate) thread_name: String,
    pub(crate) listener: &'static str,
    pub(crate) factory: F,
    pub(crate) refusals: Arc<dyn ListenerRefusals>,
    pub(crate) door: fn(&str) -> bool,
    pub(crate) encodes_targets: bool,
    pub(crate) times: Times,
    pub(crate) entrance: Arc<Entrance>,
    pub(crate) head_memory: Arc<HeadMemory>,
    pub(crate) stop: watch::Receiver<Stop>,
    pub(crate) socket: TcpListener,
    pub(crate) acceptor: Arc<Acceptor>,
    pub(crate) inbox: Inbox,
    /// All workers, including this one.
    pub(crate) peers: Arc<[Peer]>,
}

/// A worker's thread, as the listener sees it.
pub(crate) struct Worker {
    /// Reports that it is ready, or why it cannot start.
    pub(crate) ready: oneshot::Receiver<io::Result<()>>,
    /// Ends when the thread has released all connections and the service.
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
                // Does not wait for threads that a request left behind.
                runtime.shutdown_background();
            }
            // The receiver waits only for this.
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
        encodes_targets,
        times,
        entrance,
        head_memory,
        mut stop,
        socket,
        acceptor,
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
        drop(ready.send(Err(io::Error::other("the service cannot be created"))));
        return;
    };
    if ready.send(Ok(())).is_err() {
        return;
    }
    let responder = Responder { service, refusals, listener, door, encodes_targets };
    // The codec only needs to know whether connections are kept; this crate handles all times.
    let config = ServiceConfig::new(KeepAlive::Os, Duration::ZERO, Duration::ZERO, false, None);
    let (sweeper, buffers, open) =
        (Sweeper::new(times.tick()), Rc::<Buffers>::default(), Rc::<OpenConnections>::default());
    let sweeping = start_sweeping(&sweeper);
    let shared = Rc::new(Shared { responder, entrance, buffers, times });
    let take = |accepted: Accepted<tokio::net::TcpStream>| {
        let counted = open.count(&load);
        let watch = sweeper.watch(network_of(accepted.peer.ip()));
        shared.entrance.begin(&watch, &accepted.ticket);
        let parts = (watch, Codec::new(config.clone()), head_memory.share());
        let shared = Rc::clone(&shared);
        tokio::task::spawn_local(async move {
            live(accepted, parts, shared).await;
            drop(counted);
        });
    };
    let take_own = |accepted: Accepted<tokio::net::TcpStream>| {
        load.fetch_add(1, Ordering::Relaxed);
        take(accepted);
    };
    let take_handed_over =
        |accepted: Accepted<TcpStream>| match accepted.with_stream(tokio::net::TcpStream::from_std) {
            Ok(accepted) => take(accepted),
            Err(_) => _ = load.fetch_sub(1, Ordering::Relaxed),
        };
    let take_or_hand_over = |accepted: Accepted<tokio::net::TcpStream>| {
        let Some(other) = less_busy_peer(&peers, load.load(Ordering::Relaxed)) else {
            return take_own(accepted);
        };
        let Ok(accepted) = accepted.with_stream(tokio::net::TcpStream::into_std) else { return };
        if let Err(accepted) = other.take(accepted) {
            load.fetch_add(1, Ordering::Relaxed);
            take_handed_over(*accepted);
        }
    };
    {
        let mut accepting = pin!(
            acceptor.accept(&socket, take_or_hand_over, |most, which| sweeper.close_waiting(most, which))
        );
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop != Stop::No) => break,
                Some(next) = handed_over.recv() => take_handed_over(next),
                () = &mut accepting => {}
            }
        }
    }
    // Connections from before the stop are still served, by the worker that accepts them now.
    acceptor.accept_pending(&socket, take_own).await;
    drop(socket);
    handed_over.close();
    while let Ok(next) = handed_over.try_recv() {
        take_handed_over(next);
    }
    sweeper.stop();
    tokio::select! {
        () = open.wait_until_none() => {}
        _ = stop.wait_for(|stop| *stop == Stop::Now) => {}
        () = tokio::time::sleep(times.stopping) => {}
    }
    sweeping.abort();
}

/// What the connections of a worker share.
struct Shared<S> {
    responder: Responder<S>,
    entrance: Arc<Entrance>,
    buffers: Rc<Buffers>,
    times: Times,
}

/// Takes a connection from its first byte to its end.
async fn live<S, B>(
    accepted: Accepted<tokio::net::TcpStream>,
    (watch, codec, head_share): (Watched, Codec, HeadShare),
    shared: Rc<Shared<S>>,
) where
    S: Service<Request>,
    S::Response: Into<Reply<B>>,
    S::Error: Into<Response<BoxBody>>,
    B: MessageBody,
{
    let Shared { responder, entrance, buffers, times } = &*shared;
    let Accepted { stream, peer, mut ticket, handshake } = accepted;
    let entered = if entrance.has_preamble() {
        // On the heap, because a handshake needs more memory than the connection does afterwards.
        let permits = Permits { ticket: &mut ticket, handshake };
        Box::pin(entrance.pass(stream, peer, &watch, permits)).await
    } else {
        Ok((Stream::Plain(stream), peer))
    };
    match entered {
        Ok((stream, peer)) => {
            let hsts = entrance.tls.as_ref().and_then(|tls| tls.strict_transport_security.clone());
            let wire = Wire::new(stream, codec, Rc::clone(buffers), watch, *times, head_share, hsts);
            drive(ticket, peer, Rc::new(wire), responder).await;
        }
        Err(PreambleError::ProxyHeader) => responder.count_end("proxy_header"),
        Err(PreambleError::Share) => responder.count_end(ListenerRefusal::Overloaded.label()),
        Err(PreambleError::Handshake) => {}
    }
}

fn start_sweeping(sweeper: &Rc<Sweeper>) -> tokio::task::JoinHandle<()> {
    let sweeper = Rc::clone(sweeper);
    tokio::task::spawn_local(async move { sweeper.sweep().await })
}

/// Counts the connections of a worker.
#[derive(Debug, Default)]
struct OpenConnections {
    count: Cell<usize>,
    is_none: Notify,
}

impl OpenConnections {
    fn count(self: &Rc<Self>, load: &Arc<AtomicUsize>) -> CountedConnection {
        self.count.set(self.count.get() + 1);
        CountedConnection { open: Rc::clone(self), load: Arc::clone(load) }
    }

    /// Waits until all connections have ended.
    async fn wait_until_none(&self) {
        while self.count.get() > 0 {
            self.is_none.notified().await;
        }
    }
}

/// A connection, counted until it is dropped.
struct CountedConnection {
    open: Rc<OpenConnections>,
    load: Arc<AtomicUsize>,
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.load.fetch_sub(1, Ordering::Relaxed);
        let left = self.open.count.get().saturating_sub(1);
        self.open.count.set(left);
        if left == 0 {
            self.open.is_none.notify_one();
        }
    }
}

/// Capacity of a new buffer. The heads of most requests fit.
const NEW_BYTES: usize = 2 * 1024;

/// Larger buffers are not kept.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// How many buffers are kept.
const MAX_KEPT: usize = 64;

/// Empty buffers that the connections of a worker share, so an idle connection holds none.
#[derive(Debug, Default)]
pub(crate) struct Buffers(RefCell<Vec<BytesMut>>);

impl Buffers {
    /// An empty buffer.
    pub(crate) fn take(&self) -> BytesMut {
        self.0.borrow_mut().pop().unwrap_or_else(|| BytesMut::with_capacity(NEW_BYTES))
    }

    /// An empty buffer for a head, which may arrive slowly: a large one would hold more memory than the head.
    pub(crate) fn take_small(&self) -> BytesMut {
        let mut kept = self.0.borrow_mut();
        let small = kept.iter().rposition(|buffer| buffer.capacity() <= 2 * NEW_BYTES);
        small.map_or_else(|| BytesMut::with_capacity(NEW_BYTES), |place| kept.swap_remove(place))
    }

    /// Takes a buffer back, and leaves its owner one without capacity.
    pub(crate) fn give_back(&self, buffer: &mut BytesMut) {
        let mut buffer = std::mem::take(buffer);
        buffer.clear();
        let mut kept = self.0.borrow_mut();
        if kept.len() < MAX_KEPT && (NEW_BYTES..=MAX_KEPT_BYTES).contains(&buffer.capacity()) {
            kept.push(buffer);
        }
    }
}
