//! A name server on the loopback interface. It gives the answers that a test sets, or lies, or stays silent.
//!
//! ```
//! use signpost_test_servers::dns::{Behaviour, NameServer, Record, Transport};
//!
//! let server = NameServer::start();
//! server.set("www.customer.com", [Record::alias("edge.example.com")]);
//! server.set("edge.example.com", [Record::address("192.0.2.1")]);
//! server.set("_signpost.www.customer.com", [Record::text("signpost-verification=abc")]);
//! // … the program under test asks `server.address()` …
//! server.behave(Behaviour::ServFail);
//! server.behave_for("www.customer.com", Behaviour::Answer);
//! assert_eq!(server.queries("www.customer.com", Transport::Udp), 0);
//! ```

mod behaviour;
mod listeners;
mod query;
mod records;
mod reply;
mod zone;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{Notify, watch};

pub use self::behaviour::{Behaviour, Recursion};
use self::listeners::Listeners;
pub use self::records::Record;
use self::zone::{Zone, key};

/// How long [`NameServer::queried`] waits.
const PATIENCE: Duration = Duration::from_mins(1);

/// The transport of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A UDP datagram.
    Udp,
    /// A TCP connection.
    Tcp,
}

type Counts = HashMap<(String, Transport), usize>;

/// A running name server, which knows only the names that a test sets. It listens on one port of the loopback interface,
/// for UDP and TCP, and stops when it is dropped. Names have no trailing dot, and their case does not matter. A change
/// applies to every query that arrives after the call has returned.
#[derive(Debug)]
pub struct NameServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    end: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    zone: Mutex<Zone>,
    counts: watch::Sender<Counts>,
}

impl Shared {
    fn zone(&self) -> MutexGuard<'_, Zone> {
        self.zone.lock().unwrap()
    }

    fn count(&self, name: &str, transport: Transport) {
        self.counts.send_modify(|counts| *counts.entry((name.to_owned(), transport)).or_insert(0) += 1);
    }
}

impl NameServer {
    /// Starts a server without names, which resolves whole chains.
    #[must_use]
    pub fn start() -> Self {
        let (udp, tcp) = (0..100).find_map(|_| one_port()).expect("a port that is free for UDP and TCP");
        let address = udp.local_addr().unwrap();
        let shared = Arc::new(Shared { zone: Mutex::default(), counts: watch::Sender::default() });
        let (serving, end) = (shared.clone(), Arc::new(Notify::new()));
        let until = end.clone();
        // Use a separate thread: dropping a runtime within another one panics.
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listeners = Listeners::new(udp, tcp, serving);
                tokio::select! {
                    () = until.notified() => {}
                    () = listeners.serve() => {}
                }
            });
        });
        Self { shared, address, end, thread: Some(thread) }
    }

    /// The address on which it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes `name` exist with exactly these records, which may be empty.
    pub fn set(&self, name: &str, records: impl IntoIterator<Item = Record>) {
        self.shared.zone().set(name, records.into_iter().collect());
    }

    /// Removes `name`. It still exists while there is a name below it.
    pub fn remove(&self, name: &str) {
        self.shared.zone().remove(name);
    }

    /// Sets the behaviour for queries about all names without their own behaviour.
    pub fn behave(&self, behaviour: Behaviour) {
        self.shared.zone().behaviour = behaviour;
    }

    /// Sets the behaviour for queries about `name`.
    pub fn behave_for(&self, name: &str, behaviour: Behaviour) {
        self.shared.zone().behaviours.insert(key(name), behaviour);
    }

    /// Sets how much of a chain of aliases one answer contains.
    pub fn set_recursion(&self, recursion: Recursion) {
        self.shared.zone().recursion = recursion;
    }

    /// The number of queries about `name` over this transport, including unanswered ones.
    #[must_use]
    pub fn queries(&self, name: &str, transport: Transport) -> usize {
        self.shared.counts.borrow().get(&(key(name), transport)).copied().unwrap_or(0)
    }

    /// Waits until the server has received `times` queries about `name` since its start, over both transports.
    ///
    /// # Panics
    /// If they do not arrive within a minute.
    pub async fn queried(&self, name: &str, times: usize) {
        let name = key(name);
        let mut counts = self.shared.counts.subscribe();
        let has_come = |counts: &Counts| {
            let of = |transport| counts.get(&(name.clone(), transport)).copied().unwrap_or(0);
            of(Transport::Udp) + of(Transport::Tcp) >= times
        };
        let waited = tokio::time::timeout(PATIENCE, counts.wait_for(has_come)).await;
        assert!(waited.is_ok(), "fewer than {times} queries about {name} arrived");
    }

    /// Like [`queried`](Self::queried), for tests that are not async.
    ///
    /// # Panics
    /// Like [`queried`](Self::queried), and within a runtime.
    pub fn wait_until_queried(&self, name: &str, times: usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(self.queried(name, times));
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.end.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Sockets on one port for both transports, if the next port of the system is free for both.
fn one_port() -> Option<(UdpSocket, TcpListener)> {
    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let udp = UdpSocket::bind(tcp.local_addr().unwrap()).ok()?;
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    Some((udp, tcp))
}
