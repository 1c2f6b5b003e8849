//! Accepting connections, and giving each to a worker.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::door::{Door, Places, Ticket};
use crate::worker::{Accepted, Stop, Worker};

const ACCEPTED: &str = "signpost_connections_accepted_total";
const OPEN: &str = "signpost_connections_open";

/// How much of an answer the system keeps for a client that does not take it, in bytes. What was sent and is not
/// confirmed yet comes on top, so that this does not slow down those who are far away.
const MOST_UNSENT_BYTES: u32 = 64 * 1024;

/// How long the system tries to send what a client does not take, also after the connection was closed here. Without it, it
/// would keep such answers for many minutes.
#[cfg(target_os = "linux")]
const UNTAKEN_TIME: Duration = Duration::from_secs(30);

/// How long to wait before accepting again when the system has no room for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// The most connections that wait to be accepted when the listener stops.
const BACKLOG: usize = 4096;

/// How often at most a log line says that it has none.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// What is said to a connection for which there is not even room to read its request.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";

pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        ACCEPTED,
        "Connections that were accepted, by listener and by the place they got: `place`, `door` or `none`."
    );
    metrics::describe_gauge!(OPEN, "Connections that are open, by listener.");
}

/// Accepts connections until it is told to stop, then ends the workers.
pub(crate) async fn accept(
    socket: TcpListener,
    workers: Vec<Worker>,
    most: usize,
    listener: &'static str,
    mut stop: watch::Receiver<Stop>,
    stop_workers: watch::Sender<Stop>,
) -> io::Result<()> {
    let mut receiver = Receiver::new(workers, most, listener);
    let outcome = loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop != Stop::No) => break Ok(()),
            accepted = socket.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                if !receiver.receive(stream, peer).await {
                    break Err(io::Error::other("a worker thread ended"));
                }
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                receiver.note(&error);
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    // Those that have connected already are still served, and from then on the system refuses them. They are few: no more than
    // fit into the backlog of the socket.
    for _ in 0..BACKLOG {
        match socket.accept().now_or_never() {
            Some(Ok((stream, peer))) => _ = receiver.receive(stream, peer).await,
            Some(Err(_)) | None => break,
        }
    }
    drop(socket);
    tokio::spawn(async move {
        // Also when a graceful stop is followed by one that is not.
        stop_workers.send_replace(*stop.borrow_and_update());
        while stop.changed().await.is_ok() {
            stop_workers.send_replace(*stop.borrow_and_update());
        }
        stop_workers.send_replace(Stop::Now);
    });
    for worker in receiver.workers {
        worker.ended().await;
    }
    outcome
}

/// Whether only the connection that was about to be accepted is broken.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Gives places and workers to connections.
struct Receiver {
    workers: Vec<Worker>,
    places: Arc<Places>,
    door: Door,
    listener: &'static str,
    placed: metrics::Counter,
    at_the_door: metrics::Counter,
    turned_away: metrics::Counter,
    noted_at: Option<Instant>,
}

impl Receiver {
    fn new(workers: Vec<Worker>, most: usize, listener: &'static str) -> Self {
        let places = Places::new(most, metrics::gauge!(OPEN, "listener" => listener));
        let counter =
            |place: &'static str| metrics::counter!(ACCEPTED, "listener" => listener, "place" => place);
        Self {
            workers,
            door: Door::new(Arc::clone(&places)),
            places,
            listener,
            placed: counter("place"),
            at_the_door: counter("door"),
            turned_away: counter("none"),
            noted_at: None,
        }
    }

    /// `false` if there is no worker to take it.
    async fn receive(&mut self, stream: TcpStream, peer: SocketAddr) -> bool {
        let ticket = if let Some(place) = self.places.take() {
            self.placed.increment(1);
            Ticket::Place(place)
        } else if let Some(waiting) = self.door.wait().await {
            self.at_the_door.increment(1);
            Ticket::Door(waiting)
        } else {
            self.turned_away.increment(1);
            turn_away(&stream);
            return true;
        };
        prepare(&stream);
        let Ok(stream) = stream.into_std() else { return true };
        let least =
            self.workers.iter().filter(|worker| worker.is_running()).min_by_key(|worker| worker.load());
        match least {
            Some(worker) => {
                worker.take(Accepted { stream, peer, ticket });
                true
            }
            None => false,
        }
    }

    fn note(&mut self, error: &io::Error) {
        if self.noted_at.is_none_or(|noted_at| noted_at.elapsed() >= LOG_INTERVAL) {
            self.noted_at = Some(Instant::now());
            let listener = self.listener;
            tracing::error!(listener, %error, "cannot accept connections; trying on");
        }
    }
}

/// Answers to what is not read, as far as that goes at once; the connection closes behind it.
fn turn_away(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let mut socket = &*socket;
    // With something unread the connection would be reset, and the answer could be lost.
    let _ = socket.read(&mut [0; 4096]);
    let _ = socket.write(NO_ROOM);
}

/// Sets what every connection has. If the system refuses, it works without.
fn prepare(stream: &TcpStream) {
    // Answers are written whole; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    {
        let socket = SockRef::from(stream);
        let _ = socket.set_tcp_notsent_lowat(MOST_UNSENT_BYTES);
        let _ = socket.set_tcp_user_timeout(Some(UNTAKEN_TIME));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = SockRef::from(stream).set_send_buffer_size(MOST_UNSENT_BYTES as usize);
}
