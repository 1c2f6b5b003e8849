//! A TCP proxy in front of a server, which can be told to behave badly at any moment.

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

/// How long the proxy waits when it cannot accept connections, because there are no file descriptors, say.
const BREATH: Duration = Duration::from_millis(10);

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client.
    ToServer,
    /// From the server.
    ToClient,
}

/// When a connection breaks that carries a certain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The server has not got all of the text.
    BeforeArrival,
    /// The server has answered the text, and the client has nothing of the answer.
    AfterAnswer,
}

/// What the proxy does to all connections, those that are open and those that come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Hands everything on.
    Pass,
    /// Resets the connections that are open. Those that come are accepted, because they are so by the kernel, and reset.
    Refuse,
    /// Reads nothing and answers nothing; nothing is closed, and the server does not learn of what clients close. What
    /// was sent in the meantime arrives when the proxy passes again, as after a network that was split.
    BlackHole,
    /// Holds each piece, of at most 64 KiB, back for so long.
    Delay {
        /// What clients send.
        to_server: Duration,
        /// What the server sends.
        to_client: Duration,
    },
    /// Hands so many bytes on at a time.
    Slice {
        /// How many at most.
        bytes: NonZeroUsize,
        /// How long to wait before the next.
        pause: Duration,
    },
    /// Lets each connection send so many more bytes this way, and resets it when one more comes.
    Cut {
        /// Which bytes count.
        direction: Direction,
        /// How many pass, from now on or from when the connection was opened.
        after: u64,
    },
    /// Resets a connection whose client sends this text.
    CutAt {
        /// What to look for, such as `COMMIT`.
        text: &'static str,
        /// When.
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
    /// Starts a proxy that passes everything to and from this port of the loopback interface. Nobody needs to listen
    /// there yet; a client that connects meanwhile is reset.
    #[must_use]
    pub fn to(port: u16) -> Self {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let own_port = listener.local_addr().unwrap().port();
        let (behaviour, orders) = watch::channel(Behaviour::Pass);
        let (open, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let connections =
            Connections { server: (Ipv4Addr::LOCALHOST, port).into(), orders, open: open.clone() };
        let until = end.clone();
        // A thread of its own: dropping a runtime within another one panics.
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

    /// Where it listens.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Behaves like this from now on. Whatever is sent after this call has returned is dealt with so; connections to
    /// reset are reset soon, as [`connections`](Self::connections) shows.
    pub fn set(&self, behaviour: Behaviour) {
        self.behaviour.send_replace(behaviour);
    }

    /// How many connections of clients are open. In a black hole those count too that clients have closed.
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

/// What each connection needs.
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
                tokio::time::sleep(BREATH).await;
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
            // The proxy ends.
            Err(_) => false,
        };
        let server = if is_welcome { TcpStream::connect(self.server).await.ok() } else { None };
        let Some(mut server) = server else { return reset(&client) };
        for stream in [&client, &server] {
            // Otherwise slices would be put together again.
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

/// Makes dropping the stream a reset, and not an orderly end.
fn reset(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}
