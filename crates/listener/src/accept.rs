//! Accepting connections, and giving each a place.
//!
//! Every worker accepts by itself, from a clone of the one listening socket: to hand over a connection costs more than to answer
//! a request. Clones, and not sockets of the same port (`SO_REUSEPORT`), which a second program could share unnoticed.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

use crate::door::{Door, Places, Ticket};

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

/// Gives places to the connections of all workers.
pub(crate) struct Reception {
    places: Arc<Places>,
    /// Whoever waits to be let in to the door keeps others from accepting.
    door: Mutex<Door>,
    listener: &'static str,
    placed: metrics::Counter,
    at_the_door: metrics::Counter,
    turned_away: metrics::Counter,
    noted_at: SyncMutex<Option<Instant>>,
}

impl Reception {
    pub(crate) fn new(most: usize, listener: &'static str) -> Self {
        let places = Places::new(most, metrics::gauge!(OPEN, "listener" => listener));
        let counter =
            |place: &'static str| metrics::counter!(ACCEPTED, "listener" => listener, "place" => place);
        Self {
            door: Mutex::new(Door::new(Arc::clone(&places))),
            places,
            listener,
            placed: counter("place"),
            at_the_door: counter("door"),
            turned_away: counter("none"),
            noted_at: SyncMutex::default(),
        }
    }

    /// Accepts connections for ever, and gives those that get a ticket to `take`.
    pub(crate) async fn accept(&self, socket: &TcpListener, take: impl Fn(TcpStream, SocketAddr, Ticket)) {
        loop {
            match socket.accept().await {
                Ok((stream, peer)) => self.receive(stream, peer, &take).await,
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    self.note(&error);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Accepts those that have connected already. From when no worker has the socket any more, the system refuses others. They
    /// are few: no more than fit into the backlog of the socket.
    pub(crate) async fn accept_the_last(
        &self,
        socket: &TcpListener,
        take: impl Fn(TcpStream, SocketAddr, Ticket),
    ) {
        for _ in 0..BACKLOG {
            match socket.accept().now_or_never() {
                Some(Ok((stream, peer))) => self.receive(stream, peer, &take).await,
                Some(Err(_)) | None => break,
            }
        }
    }

    async fn receive(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        take: &impl Fn(TcpStream, SocketAddr, Ticket),
    ) {
        let ticket = if let Some(place) = self.places.take() {
            self.placed.increment(1);
            Ticket::Place(place)
        } else if let Some(waiting) = self.door.lock().await.wait().await {
            self.at_the_door.increment(1);
            Ticket::Door(waiting)
        } else {
            self.turned_away.increment(1);
            turn_away(&stream);
            return;
        };
        #[cfg(not(target_os = "linux"))]
        prepare(&stream);
        take(stream, peer, ticket);
    }

    fn note(&self, error: &io::Error) {
        let mut noted_at = self.noted_at.lock().unwrap_or_else(PoisonError::into_inner);
        if noted_at.is_none_or(|noted_at| noted_at.elapsed() >= LOG_INTERVAL) {
            *noted_at = Some(Instant::now());
            let listener = self.listener;
            tracing::error!(listener, %error, "cannot accept connections; trying on");
        }
    }
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

/// Answers to what is not read, as far as that goes at once; the connection closes behind it.
fn turn_away(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let mut socket = &*socket;
    // With something unread the connection would be reset, and the answer could be lost.
    let _ = socket.read(&mut [0; 4096]);
    let _ = socket.write(NO_ROOM);
}

/// Sets what every connection has. On Linux connections inherit it from the listening socket, which spares three calls for
/// each. If the system refuses, it works without.
#[cfg(target_os = "linux")]
pub(crate) fn prepare_all(listening: &std::net::TcpListener) {
    let socket = SockRef::from(listening);
    // Answers are written whole; waiting for more would only delay them.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_notsent_lowat(MOST_UNSENT_BYTES);
    let _ = socket.set_tcp_user_timeout(Some(UNTAKEN_TIME));
}

/// Sets what every connection has. If the system refuses, it works without.
#[cfg(not(target_os = "linux"))]
fn prepare(stream: &TcpStream) {
    // Answers are written whole; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(stream).set_send_buffer_size(MOST_UNSENT_BYTES as usize);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn connections_inherit_what_the_listening_socket_has() {
        let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        prepare_all(&listening);
        let _client = std::net::TcpStream::connect(listening.local_addr().unwrap()).unwrap();
        let (accepted, _) = listening.accept().unwrap();
        let socket = SockRef::from(&accepted);
        assert!(socket.tcp_nodelay().unwrap());
        assert_eq!(socket.tcp_notsent_lowat().unwrap(), MOST_UNSENT_BYTES);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(UNTAKEN_TIME));
    }
}
