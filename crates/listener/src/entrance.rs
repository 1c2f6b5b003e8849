//! What happens between accepting a socket and its first request: the header of a balancer, and the TLS handshake.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::HandshakeKind;
use tokio_rustls::rustls::server::{Acceptor, ClientHello};

use crate::connection_limit::{ConnectionPermit, Full};
use crate::door::Ticket;
use crate::options::{Proxies, Times};
use crate::proxy_protocol::read_header;
use crate::stream::{EncryptedSocket, Stream, TlsSocket};
use crate::tls::{ACME_TLS_1, TlsOptions};
use crate::watch::Watch;

const HANDSHAKES: &str = "signpost_tls_handshakes_total";

/// The fatal alert `unrecognized_name`, as a record of its own. With it a browser says what is wrong, instead of that the
/// connection was closed.
const UNRECOGNIZED_NAME: [u8; 7] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x70];

/// How long a handshake may still take when the listener stops.
const LAST_HANDSHAKE_TIME: Duration = Duration::from_secs(1);

pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        HANDSHAKES,
        "TLS handshakes, by listener and outcome: `full`, `resumed`, `challenge` (of a certificate authority), `unknown_name`, `failed`, or `cut_short` if the client was \
         too slow, made room for others or met a stop."
    );
}

/// How the connections of a listener begin.
pub(crate) struct Entrance {
    /// Whether each connection begins with the header of a balancer, which must be one of `proxies`.
    pub(crate) reads_proxy_protocol: bool,
    pub(crate) proxies: Proxies,
    pub(crate) tls: Option<TlsOptions>,
    pub(crate) times: Times,
    pub(crate) counters: HandshakeCounters,
}

/// Counts the handshakes of a listener by outcome.
pub(crate) struct HandshakeCounters {
    full: metrics::Counter,
    resumed: metrics::Counter,
    challenge: metrics::Counter,
    unknown_name: metrics::Counter,
    failed: metrics::Counter,
    cut_short: metrics::Counter,
}

impl HandshakeCounters {
    pub(crate) fn new(listener: &'static str, has_tls: bool) -> Self {
        let counter = |outcome: &'static str| {
            if has_tls {
                metrics::counter!(HANDSHAKES, "listener" => listener, "outcome" => outcome)
            } else {
                metrics::Counter::noop()
            }
        };
        Self {
            full: counter("full"),
            resumed: counter("resumed"),
            challenge: counter("challenge"),
            unknown_name: counter("unknown_name"),
            failed: counter("failed"),
            cut_short: counter("cut_short"),
        }
    }
}

/// What a connection holds before its first request.
pub(crate) struct Permits<'a> {
    pub(crate) ticket: &'a mut Ticket,
    /// The permit of its TLS handshake, if the listener speaks TLS.
    pub(crate) handshake: Option<ConnectionPermit>,
}

impl Permits<'_> {
    /// Counts the connection for the client of a balancer. Until now it counted for the balancer, which has no share.
    fn move_to(&mut self, client: SocketAddr) -> Result<(), Full> {
        self.ticket.move_to(client.ip())?;
        self.handshake.as_mut().map_or(Ok(()), |permit| permit.move_to(client.ip()))
    }
}

/// Why a connection ends before its first request.
pub(crate) enum PreambleError {
    /// It does not begin with the header of a trusted balancer.
    ProxyHeader,
    /// The client of the balancer holds its share of the connections or of the handshakes.
    Share,
    /// The handshake did not succeed; it is counted.
    Handshake,
}

impl Entrance {
    /// Whether anything happens before the first request.
    pub(crate) const fn has_preamble(&self) -> bool {
        self.reads_proxy_protocol || self.tls.is_some()
    }

    /// Notes that a connection begins. This comes before any other connection is accepted, which may need its place.
    pub(crate) fn begin(&self, watch: &Watch, ticket: &Ticket) {
        // Closing a connection at the door gives no permit back.
        if self.has_preamble() && matches!(ticket, Ticket::Permit(_)) {
            watch.begin_waiting();
        }
        if self.tls.is_some() {
            watch.begin_handshake();
        }
    }

    /// Takes a connection to its first request. Returns what to read from, and the address of the client.
    pub(crate) async fn pass(
        &self,
        mut stream: TcpStream,
        mut peer: SocketAddr,
        watch: &Watch,
        mut permits: Permits<'_>,
    ) -> Result<(Stream, SocketAddr), PreambleError> {
        if self.reads_proxy_protocol {
            watch.set_deadline(match permits.ticket {
                Ticket::Permit(_) => self.times.head,
                Ticket::Door(_) => self.times.door,
            });
            let header = async {
                if !self.proxies.contain(peer.ip()) {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                read_header(&mut stream).await
            };
            match until_cut_short(watch, permits.ticket, header).await {
                Some(Ok(Some(client))) => {
                    permits.move_to(client).map_err(|_| PreambleError::Share)?;
                    peer = client;
                }
                Some(Ok(None)) => {}
                Some(Err(_)) | None => return Err(PreambleError::ProxyHeader),
            }
        }
        match &self.tls {
            None => Ok((Stream::Plain(stream), peer)),
            Some(tls) => {
                watch.set_deadline(self.times.handshake);
                let stream = until_cut_short(watch, permits.ticket, self.shake_hands(tls, stream)).await;
                watch.end_handshake();
                match stream {
                    Some(Some(stream)) => Ok((Stream::Tls(Box::new(stream)), peer)),
                    Some(None) => Err(PreambleError::Handshake),
                    None => {
                        self.counters.cut_short.increment(1);
                        Err(PreambleError::Handshake)
                    }
                }
            }
        }
    }

    /// Reads the `ClientHello`, chooses the certificate, and ends the handshake. Choosing before the handshake is set up makes an
    /// unknown name cheap.
    async fn shake_hands(&self, tls: &TlsOptions, stream: TcpStream) -> Option<TlsSocket> {
        let counters = &self.counters;
        let hello = LazyConfigAcceptor::new(Acceptor::default(), EncryptedSocket::new(stream));
        let Ok(mut hello) = hello.await else {
            counters.failed.increment(1);
            return None;
        };
        hello.io.end_hello();
        let challenges = tls.challenges.as_ref().filter(|_| is_challenge(&hello.client_hello()));
        let site = match (challenges, hello.client_hello().server_name().map(str::to_owned)) {
            (Some(challenges), Some(name)) => challenges.proof(&name).await,
            (Some(_), None) => None,
            (None, name) => match tls.sites.site(name.as_deref()) {
                None => tls.sites.stored(name.as_deref()).await,
                in_memory => in_memory,
            },
        };
        let Some(site) = site else {
            counters.unknown_name.increment(1);
            // Without waiting: a client that does not read it sees the end of the connection.
            let _ = SockRef::from(hello.io.socket()).send(&UNRECOGNIZED_NAME);
            return None;
        };
        let Ok(mut stream) = hello.into_stream(site.config).await else {
            counters.failed.increment(1);
            return None;
        };
        if challenges.is_some() {
            counters.challenge.increment(1);
            let _ = stream.shutdown().await;
            return None;
        }
        match stream.get_ref().1.handshake_kind() {
            Some(HandshakeKind::Resumed) => counters.resumed.increment(1),
            Some(_) | None => counters.full.increment(1),
        }
        Some(TlsSocket::new(stream, site.names))
    }
}

/// Whether a handshake is that of a certificate authority, which offers no other protocol.
fn is_challenge(hello: &ClientHello<'_>) -> bool {
    hello.alpn().is_some_and(|offered| offered.eq([ACME_TLS_1]))
}

/// Waits for `step`. `None` if its deadline passes first, if the connection must make room for another one, or if the listener
/// stops and a last second has passed.
async fn until_cut_short<T>(watch: &Watch, ticket: &Ticket, step: impl Future<Output = T>) -> Option<T> {
    let mut step = pin!(step);
    let mut is_last = false;
    let ended = poll_fn(|cx| {
        if let Poll::Ready(ended) = step.as_mut().poll(cx) {
            return Poll::Ready(Some(ended));
        }
        if watch.is_stopping() && !is_last {
            is_last = true;
            watch.set_deadline(LAST_HANDSHAKE_TIME);
        }
        if watch.is_expired() || watch.is_evicted() || ticket.poll_evicted(cx).is_ready() {
            return Poll::Ready(None);
        }
        watch.wake_later(cx);
        Poll::Pending
    })
    .await;
    watch.clear_deadline();
    ended
}
