//! A listener with a small service, and a client that sends and reads raw bytes.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_http::body::{BodyStream, BoxBody};
use actix_http::header::{HeaderName, HeaderValue};
use actix_http::{Method, Request, Response, StatusCode};
use actix_service::fn_service;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use signpost_listener::{Listener, ListenerOptions, ListenerRefusal, ListenerRefusals, Proxies, Times};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Longer than any wait of these tests. A test that reaches it fails.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// The size of the answer of `/large`.
pub(crate) const LARGE: usize = 8 * 1024 * 1024;

/// What the service reports to the test.
#[derive(Default)]
pub(crate) struct Seen {
    /// Requests that reached the service.
    pub(crate) calls: AtomicUsize,
    /// Received body bytes.
    pub(crate) body_bytes: AtomicUsize,
    /// Parts of the answer of `/stream` that were asked for.
    pub(crate) parts: AtomicUsize,
}

/// A running listener.
pub(crate) struct Scene {
    pub(crate) listener: Listener,
    pub(crate) seen: Arc<Seen>,
    /// Each permit releases one answer of `/wait`.
    pub(crate) leave: Arc<Semaphore>,
    /// Keeps the port after a stop.
    _port: TcpSocket,
}

/// Deadlines that no test reaches.
pub(crate) const fn patient() -> Times {
    Times {
        handshake: LONG,
        idle: LONG,
        head: LONG,
        body: LONG,
        stalled: LONG,
        lingering: LONG,
        door: LONG,
        stopping: LONG,
    }
}

impl Scene {
    pub(crate) fn start(times: Times, connections: usize) -> Self {
        Self::start_with(&ListenerOptions {
            connections,
            times,
            // All clients of a test have the same address.
            proxies: Proxies::new(|_| true),
            ..ListenerOptions::new("test", NonZeroUsize::MIN)
        })
    }

    /// A listener that percent-encodes raw bytes of targets.
    pub(crate) fn encoding(times: Times) -> Self {
        Self::start_with(&ListenerOptions {
            times,
            proxies: Proxies::new(|_| true),
            encodes_targets: true,
            ..ListenerOptions::new("test", NonZeroUsize::MIN)
        })
    }

    pub(crate) fn start_with(options: &ListenerOptions) -> Self {
        let (socket, port) = kept_listener();
        let (seen, leave) = (Arc::<Seen>::default(), Arc::new(Semaphore::new(0)));
        let options = ListenerOptions { door: |path| path == "/door", ..options.clone() };
        let service = {
            let (seen, leave) = (Arc::clone(&seen), Arc::clone(&leave));
            move || {
                let (seen, leave) = (Arc::clone(&seen), Arc::clone(&leave));
                fn_service(move |request| answer(request, Arc::clone(&seen), Arc::clone(&leave)))
            }
        };
        let refusals: Arc<dyn ListenerRefusals> = Arc::new(Named);
        let listener = Listener::start(socket, &options, &refusals, service).unwrap();
        Self { listener, seen, leave, _port: port }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.address()).await
    }

    /// Connections with a running request each, until [`Self::leave`] has permits.
    pub(crate) async fn hold(&self, connections: usize) -> Vec<Client> {
        let (mut held, before) = (Vec::new(), self.calls());
        for _ in 0..connections {
            let mut client = self.connect().await;
            client.send(get("/wait")).await;
            held.push(client);
        }
        while self.calls() < before + connections {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        held
    }

    pub(crate) fn calls(&self) -> usize {
        self.seen.calls.load(Ordering::SeqCst)
    }
}

/// A listening socket, and one that keeps the port bound without listening. Otherwise another program could
/// listen there after a stop.
fn kept_listener() -> (std::net::TcpListener, TcpSocket) {
    let port = TcpSocket::new_v4().unwrap();
    // Two sockets share a port only if both allow it. The standard library sets this for listeners.
    port.set_reuseaddr(true).unwrap();
    port.bind(([127, 0, 0, 1], 0).into()).unwrap();
    (std::net::TcpListener::bind(port.local_addr().unwrap()).unwrap(), port)
}

async fn answer(
    mut request: Request,
    seen: Arc<Seen>,
    leave: Arc<Semaphore>,
) -> Result<Response<BoxBody>, Infallible> {
    seen.calls.fetch_add(1, Ordering::SeqCst);
    let ok = |body: Bytes| Response::build(StatusCode::OK).body(body).map_into_boxed_body();
    Ok(match request.path() {
        "/large" => ok(Bytes::from(vec![b'x'; LARGE])),
        "/stream" | "/broken" => {
            let is_broken = request.path() == "/broken";
            let last =
                if is_broken { Err(io::Error::other("broken")) } else { Ok(Bytes::from_static(b"two")) };
            let parts = stream::iter([Ok(Bytes::from_static(b"one,")), last]);
            let parts = parts.inspect(move |_| _ = seen.parts.fetch_add(1, Ordering::SeqCst));
            Response::build(StatusCode::OK).body(BodyStream::new(parts)).map_into_boxed_body()
        }
        "/endless" => {
            let parts =
                stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"one,"))]).chain(stream::pending());
            Response::build(StatusCode::OK).body(BodyStream::new(parts)).map_into_boxed_body()
        }
        "/peer" => ok(request.peer_addr().unwrap().to_string().into()),
        "/wait" => {
            leave.acquire().await.unwrap().forget();
            ok(Bytes::from_static(b"waited"))
        }
        "/echo" => {
            let mut payload = request.take_payload();
            let mut body = Vec::new();
            loop {
                match payload.next().await {
                    Some(Ok(chunk)) => {
                        seen.body_bytes.fetch_add(chunk.len(), Ordering::SeqCst);
                        body.extend_from_slice(&chunk);
                    }
                    Some(Err(_)) => return Ok(Response::new(StatusCode::BAD_REQUEST)),
                    None => return Ok(ok(body.into())),
                }
            }
        }
        _ if request.method() == Method::HEAD => ok(Bytes::from_static(b"of a GET")),
        _ => ok(request.uri().to_string().into()),
    })
}

/// Refuses with the name of the reason.
struct Named;

impl ListenerRefusals for Named {
    fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody> {
        Response::build(refusal.status()).body(format!("{refusal:?}")).map_into_boxed_body()
    }

    fn answer_at(&self, refusal: ListenerRefusal, server_name: Option<&str>) -> Response<BoxBody> {
        let mut response = self.answer(refusal);
        if let Some(name) = server_name {
            let name = HeaderValue::from_str(name).unwrap();
            response.headers_mut().insert(HeaderName::from_static("x-server-name"), name);
        }
        response
    }
}

/// A client.
pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
    read: Vec<u8>,
}

/// One answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) const fn over(stream: S) -> Self {
        Self { stream, read: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(get(path)).await;
        self.answer().await
    }

    /// Sends bytes and reads an answer; `None` if the connection closes before it.
    pub(crate) async fn exchange(&mut self, bytes: impl AsRef<[u8]>) -> Option<Answer> {
        self.stream.write_all(bytes.as_ref()).await.ok()?;
        self.answer_if_any().await
    }

    /// Reads the next answer, by its `Content-Length`.
    pub(crate) async fn answer(&mut self) -> Answer {
        self.answer_if_any().await.expect("the connection closed before an answer")
    }

    async fn answer_if_any(&mut self) -> Option<Answer> {
        let head = self.until_empty_line().await?;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        while self.read.len() < length {
            assert!(self.more().await > 0, "the connection closed during an answer");
        }
        let body = self.read.drain(..length).collect();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some(Answer { status, head, body: String::from_utf8(body).unwrap() })
    }

    /// Reads a head with its empty line; `None` if the connection closes first.
    pub(crate) async fn until_empty_line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.read.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = self.read.drain(..end + 4).collect();
                return Some(String::from_utf8(head).unwrap());
            }
            if self.more().await == 0 {
                return None;
            }
        }
    }

    /// Reads until the connection closes, and returns the number of bytes.
    pub(crate) async fn until_closed(&mut self) -> usize {
        let mut bytes = self.read.len();
        self.read.clear();
        loop {
            match self.more().await {
                0 => return bytes,
                more => bytes += more,
            }
            self.read.clear();
        }
    }

    /// Reads until the connection closes, and returns the text.
    pub(crate) async fn everything(&mut self) -> String {
        while self.more().await > 0 {}
        String::from_utf8(std::mem::take(&mut self.read)).unwrap()
    }

    /// Writes until the server reads no more, and returns the number of bytes it took; `None` if the
    /// connection broke first.
    pub(crate) async fn write_until_refused(&mut self, bytes: &[u8], most: usize) -> Option<usize> {
        let mut written = 0;
        while written < most {
            match timeout(LONG, self.stream.write(bytes)).await.expect("the server reads nothing") {
                Ok(0) | Err(_) => return Some(written),
                Ok(more) => written += more,
            }
        }
        None
    }

    async fn more(&mut self) -> usize {
        let read = timeout(LONG, self.stream.read_buf(&mut self.read)).await.expect("nothing came");
        // A reset also closes the connection.
        read.unwrap_or(0)
    }
}

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n")
}

pub(crate) const SHORT: Duration = Duration::from_millis(80);
