//! Hostile clients without a key: they hold connections open, send slowly or endlessly, and do not read.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, Interest};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};

/// The time before a client reconnects after its connection was closed.
const PAUSE: Duration = Duration::from_millis(200);

/// The attack of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Harm {
    /// Requests a large file eight times in one write, and never reads.
    NoReading,
    /// Sends one byte of a head every ten seconds.
    Dribbling,
    /// Sends 100 kB of a head, and then one byte a second.
    HalfHeads,
    /// Sends half of a body of 1 MiB, and then one byte a second.
    HalfBodies,
    /// Sends an endless body in chunks, 4 KiB ten times a second.
    EndlessChunks,
    /// Sends 1 MiB of JSON with 130,000 unknown field names, and never reads the answer.
    UnknownNames,
}

impl Harm {
    /// All attacks.
    pub const ALL: [Self; 6] = [
        Self::NoReading,
        Self::Dribbling,
        Self::HalfHeads,
        Self::HalfBodies,
        Self::EndlessChunks,
        Self::UnknownNames,
    ];

    fn opening(self) -> Vec<u8> {
        let json = "Host: a\r\nContent-Type: application/json\r\n";
        match self {
            Self::NoReading => {
                "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n".repeat(8).into_bytes()
            }
            Self::Dribbling => b"GET / HTTP/1.1\r\n".to_vec(),
            Self::HalfHeads => {
                format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(100_000)).into_bytes()
            }
            Self::HalfBodies => {
                let head = format!("POST /v1/groups HTTP/1.1\r\n{json}Content-Length: 1048576\r\n\r\n");
                (head + &" ".repeat(524_288)).into_bytes()
            }
            Self::EndlessChunks => {
                format!("POST /v1/groups HTTP/1.1\r\n{json}Transfer-Encoding: chunked\r\n\r\n").into_bytes()
            }
            Self::UnknownNames => {
                let names: Vec<_> = (0..130_000_u32).map(|number| format!("\"{number:x}\":")).collect();
                let body = format!("{{{}0}}", names.join("0,"));
                format!("GET /health/live HTTP/1.1\r\n{json}Content-Length: {}\r\n\r\n{body}", body.len())
                    .into_bytes()
            }
        }
    }

    fn more(self) -> (Vec<u8>, Duration) {
        match self {
            Self::NoReading | Self::UnknownNames => (Vec::new(), Duration::from_millis(500)),
            Self::Dribbling => (b"x".to_vec(), Duration::from_secs(10)),
            Self::HalfHeads => (b"x".to_vec(), Duration::from_secs(1)),
            Self::HalfBodies => (b" ".to_vec(), Duration::from_secs(1)),
            Self::EndlessChunks => {
                (format!("1000\r\n{}\r\n", " ".repeat(4096)).into_bytes(), Duration::from_millis(100))
            }
        }
    }
}

/// A crowd of hostile clients. Each reconnects when its connection is closed. Dropping the crowd stops it.
#[derive(Debug)]
pub struct HostileClients {
    /// One thread of the lowest priority, because a real crowd runs on other machines.
    runtime: Option<Runtime>,
    connected: Arc<AtomicUsize>,
}

impl HostileClients {
    /// Starts `number` clients against the server at `address`. They connect during the next moments.
    #[must_use]
    pub fn begin(address: SocketAddr, harm: Harm, number: usize) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .on_thread_start(yield_to_all_others)
            .enable_all()
            .build()
            .unwrap();
        let connected = Arc::<AtomicUsize>::default();
        let (opening, more) = (Arc::<[u8]>::from(harm.opening()), harm.more());
        for _ in 0..number {
            let (opening, more, connected) = (Arc::clone(&opening), more.clone(), Arc::clone(&connected));
            runtime.spawn(async move {
                loop {
                    if let Ok(stream) = connect(address).await {
                        connected.fetch_add(1, Ordering::Relaxed);
                        attack(stream, &opening, &more).await;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            });
        }
        Self { runtime: Some(runtime), connected }
    }

    /// The number of connections made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connected.load(Ordering::Relaxed)
    }
}

impl Drop for HostileClients {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Gives this thread and the processes that it starts the lowest priority. On Linux, niceness is per thread.
///
/// # Panics
///
/// If the system refuses.
pub fn yield_to_all_others() {
    rustix::process::nice(19).unwrap();
}

async fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Keep unread data in the buffers of the sender.
    socket.set_recv_buffer_size(4096)?;
    socket.connect(address).await
}

/// Attacks until the server closes the connection.
async fn attack(mut stream: TcpStream, opening: &[u8], (more, pause): &(Vec<u8>, Duration)) {
    if stream.write_all(opening).await.is_err() {
        return;
    }
    loop {
        tokio::time::sleep(*pause).await;
        let is_closed = if more.is_empty() {
            // Wait without reading.
            stream.ready(Interest::READABLE).await.map_or(true, tokio::io::Ready::is_read_closed)
        } else {
            stream.write_all(more).await.is_err()
        };
        if is_closed {
            return;
        }
    }
}

/// Raises the limit on open files of this process to the maximum.
pub fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current: _, maximum } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// The memory that a process uses now, in bytes.
#[must_use]
pub fn memory_of(process: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// The kernel memory of the server side of connections to these addresses, in bytes. `None` without the program `ss`.
#[must_use]
pub fn memory_of_sockets(listeners: &[SocketAddr]) -> Option<usize> {
    let ports: Vec<_> = listeners.iter().map(|address| format!("sport = :{}", address.port())).collect();
    let output = Command::new("ss").args(["-tnmH", "state", "all", &ports.join(" or ")]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let of_socket = |memory: &str| -> usize {
        let fields = memory.split([',', ')']);
        // Received, reserved, and still to be sent.
        let counted = fields.filter_map(|field| field.strip_prefix(['r', 'f', 'w']));
        counted.filter_map(|bytes| bytes.parse::<usize>().ok()).sum()
    };
    Some(text.split("skmem:(").skip(1).map(of_socket).sum())
}
