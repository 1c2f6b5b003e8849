//! A TCP proxy in front of a server, which simulates network failures on demand.

mod pump;

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use self::pump::Pump;
use crate::ports::free_port;

/// The pause after a failure to accept a connection, for example for lack of file descriptors.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// The direction of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client.
    ToServer,
    /// From the server.
    ToClient,
}

/// When a connection breaks that carries the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the server has received all of the text.
    BeforeArrival,
    /// After the server has answered the text, but before the client gets any of the answer.
    AfterAnswer,
}

/// The behaviour of the proxy for all open and new connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Forwards everything.
    Pass,
    /// Resets all open connections. The kernel accepts new ones, which the proxy then resets.
    Refuse,
    /// Forwards and closes nothing, so the server does not notice closed clients. Data sent meanwhile arrives when the
    /// proxy passes again, as after a network partition.
    BlackHole,
    /// Delays each piece, of at most 64 KiB.
    Delay {
        /// The delay of data from clients.
        to_server: Duration,
        /// The delay of data from the server.
        to_client: Duration,
    },
    /// Forwards slices of limited size, with pauses.
    Slice {
        /// The maximum size of a slice in bytes.
        bytes: NonZeroUsize,
        /// The pause before the next slice.
        pause: Duration,
    },
    /// Forwards a number of bytes of each connection, and resets it at the next byte.
    Cut {
        /// The direction of the counted bytes.
        direction: Direction,
        /// The number of forwarded bytes, counted from now or from the opening of the connection.
        after: u64,
    },
    /// Resets a connection whose client sends this text.
    CutAt {
        /// The text, such as `COMMIT`.
        text: &'static str,
        /// The moment of the reset.
        moment: Moment,
    },
}

/// A running proxy that listens on the loopback interface. Dropping it closes all connections.
#[derive(Debug)]
pub struct Proxy {
    behaviour: watch::Sender<Behaviour>,
    open: Arc<AtomicUsize>,
    port: u16,
    end: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy that forwards to this port of the loopback interface. If no server listens there yet, the proxy resets
    /// the connections of clients.
    #[must_use]
    pub fn to(port: u16) -> Self {
        // Not a port of the system's choice, which another program may get once this proxy is dropped.
        let listener = (0..100).find_map(|_| StdListener::bind((Ipv4Addr::LOCALHOST, free_port())).ok());
        let listener = listener.expect("a free port");
        listener.set_nonblocking(true).unwrap();
        let own_port = listener.local_addr().unwrap().port();
        let (behaviour, orders) = watch::channel(Behaviour::Pass);
        let (open, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let connections =
            Connections { server: (Ipv4Addr::LOCALHOST, port).into(), orders, open: open.clone() };
        let until = end.clone();
        // Use a separate thread: dropping a runtime within another one panics.
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = until.notified() => {}
                    () = connections.accept(listener) => {}
                }
            });
        });
        Self { behaviour, open, port: own_port, end, thread: Some(thread) }
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Changes the behaviour. It applies to all data sent after the call has returned. Resets follow soon, as
    /// [`connections`](Self::connections) shows.
    pub fn set(&self, behaviour: Behaviour) {
        self.behaviour.send_replace(behaviour);
    }

    /// The number of open client connections. In a black hole it includes connections that clients have closed.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The shared state of all connections.
#[derive(Clone)]
struct Connections {
    server: SocketAddr,
    orders: watch::Receiver<Behaviour>,
    open: Arc<AtomicUsize>,
}

impl Connections {
    async fn accept(self, listener: StdListener) {
        let listener = TcpListener::from_std(listener).unwrap();
        loop {
            let Ok((client, _)) = listener.accept().await else {
                tokio::time::sleep(RETRY_PAUSE).await;
                continue;
            };
            self.open.fetch_add(1, Ordering::SeqCst);
            let connection = self.clone();
            tokio::spawn(async move {
                connection.clone().serve(client).await;
                connection.open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }

    async fn serve(mut self, mut client: TcpStream) {
        let is_welcome = match self.orders.wait_for(|order| *order != Behaviour::BlackHole).await {
            Ok(order) => *order != Behaviour::Refuse,
            // The proxy stops.
            Err(_) => false,
        };
        let server = if is_welcome { TcpStream::connect(self.server).await.ok() } else { None };
        let Some(mut server) = server else { return reset(&client) };
        for stream in [&client, &server] {
            // Otherwise the kernel would merge slices.
            let _ = stream.set_nodelay(true);
        }
        let is_answer_awaited = AtomicBool::new(false);
        let outcome = {
            let (from_client, to_client) = client.split();
            let (from_server, to_server) = server.split();
            let pump = |direction, reader, writer| {
                Pump::new(direction, reader, writer, &is_answer_awaited).run(self.orders.clone())
            };
            tokio::try_join!(
                pump(Direction::ToServer, from_client, to_server),
                pump(Direction::ToClient, from_server, to_client)
            )
        };
        if outcome.is_err() {
            reset(&client);
            reset(&server);
        }
    }
}

/// Makes dropping the stream reset the connection instead of closing it cleanly.
fn reset(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}
