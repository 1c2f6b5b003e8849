//! Accepts connections and issues each a ticket.
//!
//! Every worker accepts from its own clone of the one listening socket: handing a connection over costs more
//! than answering a request. Clones are safer than sockets that share a port (`SO_REUSEPORT`), since a second
//! program could share the port unnoticed.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

use crate::connection_limit::{ConnectionLimit, ConnectionPermit, Full, network_of};
use crate::door::{Door, Ticket};
use crate::options::Proxies;
use crate::watch::Waiting;
use crate::worker::Accepted;

const ACCEPTED: &str = "signpost_connections_accepted_total";
const OPEN: &str = "signpost_connections_open";
const IN_HANDSHAKE: &str = "signpost_tls_handshakes_open";

/// One part in this many of the connections may be in a TLS handshake.
const PART_IN_HANDSHAKE: usize = 4;

/// How many connections of one peer that is no proxy may be in a TLS handshake.
const HANDSHAKES_OF_A_PEER: usize = 64;

/// One part in this many of the connections may belong to a peer that is no proxy.
const PART_OF_A_PEER: usize = 2;

/// How much of an answer the system buffers for a client that does not read, in bytes. Sent but
/// unacknowledged data comes on top, so this does not slow down distant clients.
const MAX_UNSENT_BYTES: u32 = 64 * 1024;

/// How long the system tries to send data that a client does not read, even after the connection was closed
/// here. The default would keep such answers for many minutes.
#[cfg(target_os = "linux")]
const UNREAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The pause before accepting again when the system has no resources for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Maximum number of connections still accepted when the listener stops.
const BACKLOG: usize = 4096;

/// One connection in this many is closed at once when there is no room. Finding them takes a look at all.
const CLOSED_AT_ONCE: usize = 128;

/// How often a worker turns to its other connections while a new one waits for the permit of a closed one.
const YIELDS: usize = 16;

/// Minimum time between two log lines about it.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// The answer to a connection when there is no room even to read its request.
const OVERLOADED: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";

pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        ACCEPTED,
        "Connections accepted, by listener and by where they were admitted: `place`, `door` or `none`."
    );
    metrics::describe_gauge!(OPEN, "Open connections, by listener.");
    metrics::describe_gauge!(
        IN_HANDSHAKE,
        "Open connections whose TLS handshake has not ended, by listener."
    );
}

/// Issues tickets to the connections of all workers.
pub(crate) struct Acceptor {
    limit: Arc<ConnectionLimit>,
    /// The limit of unfinished handshakes, if the listener speaks TLS.
    handshakes: Option<Arc<ConnectionLimit>>,
    /// A connection that waits to enter the door blocks further accepts.
    door: Mutex<Door>,
    listener: &'static str,
    admitted: metrics::Counter,
    at_the_door: metrics::Counter,
    turned_away: metrics::Counter,
    noted_at: SyncMutex<Option<Instant>>,
}

impl Acceptor {
    pub(crate) fn new(most: usize, proxies: &Proxies, listener: &'static str, has_tls: bool) -> Self {
        let share = most.div_ceil(PART_OF_A_PEER);
        let open = metrics::gauge!(OPEN, "listener" => listener);
        let limit = ConnectionLimit::new(most, share, proxies.clone(), open);
        let handshakes = has_tls.then(|| {
            let most = most.div_ceil(PART_IN_HANDSHAKE);
            let open = metrics::gauge!(IN_HANDSHAKE, "listener" => listener);
            ConnectionLimit::new(most, HANDSHAKES_OF_A_PEER, proxies.clone(), open)
        });
        let counter =
            |place: &'static str| metrics::counter!(ACCEPTED, "listener" => listener, "place" => place);
        Self {
            door: Mutex::new(Door::new(Arc::clone(&limit))),
            limit,
            handshakes,
            listener,
            admitted: counter("place"),
            at_the_door: counter("door"),
            turned_away: counter("none"),
            noted_at: SyncMutex::default(),
        }
    }

    /// Accepts connections forever, and passes those that get a ticket to `take`. `make_room` closes up to that many
    /// of the worker's connections that wait for a request, and returns how many.
    pub(crate) async fn accept(
        &self,
        socket: &TcpListener,
        take: impl Fn(Accepted<TcpStream>),
        make_room: impl Fn(usize, Waiting) -> usize,
    ) {
        loop {
            match socket.accept().await {
                Ok((stream, peer)) => self.receive(stream, peer, &take, &make_room).await,
                Err(error) if affects_one_connection(&error) => {}
                Err(error) => {
                    self.note(&error);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Accepts pending connections. Once no worker holds the socket, the system refuses new ones. Their
    /// number is bounded by the socket's backlog.
    pub(crate) async fn accept_pending(&self, socket: &TcpListener, take: impl Fn(Accepted<TcpStream>)) {
        for _ in 0..BACKLOG {
            match socket.accept().now_or_never() {
                // The connections that wait for a request are closed by the stop anyway.
                Some(Ok((stream, peer))) => self.receive(stream, peer, &take, &|_, _| 0).await,
                Some(Err(_)) | None => break,
            }
        }
    }

    async fn receive(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        take: &impl Fn(Accepted<TcpStream>),
        make_room: &impl Fn(usize, Waiting) -> usize,
    ) {
        let ticket = if let Some(permit) = permit(&self.limit, peer.ip(), Waiting::Any, make_room).await {
            Ticket::Permit(permit)
        } else if self.handshakes.is_some() {
            // An answer would need a handshake first, which costs more than the answer.
            self.turned_away.increment(1);
            return;
        } else if let Some(waiting) = self.door.lock().await.wait(peer.ip()).await {
            Ticket::Door(waiting)
        } else {
            self.turned_away.increment(1);
            refuse_unread(&stream);
            return;
        };
        let handshake = if let Some(limit) = &self.handshakes {
            let permit = permit(limit, peer.ip(), Waiting::InHandshake, make_room).await;
            if permit.is_none() {
                self.turned_away.increment(1);
                return;
            }
            permit
        } else {
            None
        };
        match &ticket {
            Ticket::Permit(_) => self.admitted.increment(1),
            Ticket::Door(_) => self.at_the_door.increment(1),
        }
        #[cfg(not(target_os = "linux"))]
        configure(&stream);
        take(Accepted { stream, peer, ticket, handshake });
    }

    fn note(&self, error: &io::Error) {
        let mut noted_at = self.noted_at.lock().unwrap_or_else(PoisonError::into_inner);
        if noted_at.is_none_or(|noted_at| noted_at.elapsed() >= LOG_INTERVAL) {
            *noted_at = Some(Instant::now());
            let listener = self.listener;
            tracing::error!(listener, %error, "cannot accept connections; retrying");
        }
    }
}

/// A permit, if necessary that of a connection which waits for a request: those that ask for something come first. `others` are
/// the connections that may make room if all permits are taken.
async fn permit(
    limit: &Arc<ConnectionLimit>,
    peer: IpAddr,
    others: Waiting,
    make_room: &impl Fn(usize, Waiting) -> usize,
) -> Option<ConnectionPermit> {
    let which = match (limit.take(peer), others) {
        (Ok(permit), _) => return Some(permit),
        (Err(Full::Limit), others) => others,
        (Err(Full::Share), Waiting::Any | Waiting::OfNetwork(_)) => Waiting::OfNetwork(network_of(peer)),
        // Its other handshakes end within seconds, so a flood from one peer costs no look at all connections.
        (Err(Full::Share), Waiting::InHandshake) => return None,
    };
    if make_room((limit.most() / CLOSED_AT_ONCE).max(1), which) == 0 {
        return None;
    }
    for _ in 0..YIELDS {
        // The closed connections give their permits back when the worker turns to them.
        tokio::task::yield_now().await;
        if let Ok(permit) = limit.take(peer) {
            return Some(permit);
        }
    }
    None
}

/// Whether the error affects only the connection being accepted.
fn affects_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Answers without reading the request, as far as that works without waiting. The caller closes the
/// connection.
fn refuse_unread(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let mut socket = &*socket;
    // Closing with unread data would reset the connection, and the answer could be lost.
    let _ = socket.read(&mut [0; 4096]);
    let _ = socket.write(OVERLOADED);
}

/// Sets the options of every connection. On Linux connections inherit them from the listening socket, which
/// saves three calls each. If the system refuses an option, the listener works without it.
#[cfg(target_os = "linux")]
pub(crate) fn configure_listening(listening: &std::net::TcpListener) {
    let socket = SockRef::from(listening);
    // Answers are written whole; waiting for more data would only delay them.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_notsent_lowat(MAX_UNSENT_BYTES);
    let _ = socket.set_tcp_user_timeout(Some(UNREAD_TIMEOUT));
}

/// Sets the options of every connection. If the system refuses an option, the listener works without it.
#[cfg(not(target_os = "linux"))]
fn configure(stream: &TcpStream) {
    // Answers are written whole; waiting for more data would only delay them.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(stream).set_send_buffer_size(MAX_UNSENT_BYTES as usize);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn connections_inherit_options_of_the_listening_socket() {
        let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        configure_listening(&listening);
        let _client = std::net::TcpStream::connect(listening.local_addr().unwrap()).unwrap();
        let (accepted, _) = listening.accept().unwrap();
        let socket = SockRef::from(&accepted);
        assert!(socket.tcp_nodelay().unwrap());
        assert_eq!(socket.tcp_notsent_lowat().unwrap(), MAX_UNSENT_BYTES);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(UNREAD_TIMEOUT));
    }
}
