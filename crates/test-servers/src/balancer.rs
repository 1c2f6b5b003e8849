//! A TCP balancer in front of the nodes of a test.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a connection waits for the first backend.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running balancer on the loopback interface. It gives connections to its backends in turn. While it has none, connections
/// wait, because a server that the nodes call at their start may call back before the test knows their ports.
#[derive(Debug)]
pub struct Balancer {
    shared: Arc<Shared>,
    port: u16,
}

#[derive(Debug, Default)]
struct Shared {
    backends: Mutex<Backends>,
    changed: Condvar,
    has_ended: AtomicBool,
}

#[derive(Debug, Default)]
struct Backends {
    addresses: Vec<SocketAddr>,
    turn: usize,
}

impl Balancer {
    /// A balancer that listens on this port, and has no backends yet.
    ///
    /// # Panics
    /// If the port is taken.
    #[must_use]
    pub fn on(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let shared = Arc::<Shared>::default();
        let serving = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.has_ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = serving.clone();
                // Clients and backends that break off cause errors here, which are nobody's concern.
                thread::spawn(move || stream.and_then(|client| shared.serve(client)));
            }
        });
        Self { shared, port }
    }

    /// Gives new connections to these backends.
    pub fn set(&self, addresses: Vec<SocketAddr>) {
        *self.shared.backends() = Backends { addresses, turn: 0 };
        self.shared.changed.notify_all();
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::SeqCst);
        // The listener waits for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Shared {
    fn backends(&self) -> MutexGuard<'_, Backends> {
        self.backends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The backend of the next connection. `None` if there is none for long.
    fn next(&self) -> Option<SocketAddr> {
        let waited = self.changed.wait_timeout_while(self.backends(), PATIENCE, |backends| {
            backends.addresses.is_empty() && !self.has_ended.load(Ordering::SeqCst)
        });
        let mut backends = waited.unwrap_or_else(PoisonError::into_inner).0;
        let number = backends.turn.checked_rem(backends.addresses.len())?;
        backends.turn += 1;
        backends.addresses.get(number).copied()
    }

    fn serve(&self, client: TcpStream) -> io::Result<()> {
        let Some(backend) = self.next() else { return Ok(()) };
        let backend = TcpStream::connect(backend)?;
        let (from_client, to_backend) = (client.try_clone()?, backend.try_clone()?);
        let forth = thread::spawn(move || pass(from_client, to_backend));
        let back = pass(backend, client);
        let _ = forth.join();
        back
    }
}

/// Passes on all bytes, and the end.
fn pass(mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
    let mut piece = [0; 16 * 1024];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return to.shutdown(Shutdown::Write);
        }
        to.write_all(&piece[..length])?;
    }
}
