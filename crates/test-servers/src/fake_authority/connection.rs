//! One connection with one request: HTTP/1.1 over TLS.

use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

use super::misbehaviour::{Endpoint, Kind};
use super::{Shared, protocol};

type Tls = StreamOwned<ServerConnection, TcpStream>;

/// The pause between the bytes of a slow answer, and between looks for the end of the authority.
const PAUSE: Duration = Duration::from_millis(20);

/// An answer, without the headers that every answer has.
pub(super) struct Response {
    status: u16,
    headers: String,
    body: String,
}

impl Response {
    pub(super) const fn new(status: u16, body: String) -> Self {
        Self { status, headers: String::new(), body }
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string()).header("Content-Type", "application/json")
    }

    pub(super) fn problem(status: u16, kind: &str) -> Self {
        let kind = format!("urn:ietf:params:acme:error:{kind}");
        Self::json(status, &serde_json::json!({"type": kind, "detail": "no"}))
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.extend([name, ": ", value, "\r\n"]);
        self
    }
}

struct Request {
    method: String,
    path: String,
    body: Vec<u8>,
}

/// Answers one request.
pub(super) fn serve(stream: TcpStream, config: Arc<ServerConfig>, shared: &Shared) -> io::Result<()> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let request = read(&mut stream)?;
    let stream = stream.get_mut();
    let mut parts = request.path.trim_start_matches('/').split('/');
    let name = parts.next().unwrap_or_default();
    let Some((endpoint, _)) = Endpoint::ALL.into_iter().find(|(_, known)| *known == name) else {
        return send(stream, &request, &Response::problem(404, "malformed"));
    };
    let number = parts.next().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX);
    match begin(shared, endpoint, &request) {
        Some(Kind::Answer { status, retry_after, kind, body }) => {
            let kind = kind.map_or("text/html", |_| "application/problem+json");
            let response = Response::new(status, body).header("Content-Type", kind);
            let response = match retry_after {
                Some(value) => response.header("Retry-After", &value),
                None => response,
            };
            send(stream, &request, &response)
        }
        Some(Kind::Silence) => {
            stay_silent(shared);
            Ok(())
        }
        Some(Kind::LostAnswer) => {
            let _ = protocol::answer(shared, endpoint, number, &request.body);
            stay_silent(shared);
            Ok(())
        }
        Some(Kind::SlowBytes) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{")?;
            while !shared.has_ended() {
                stream.write_all(b" ")?;
                stream.flush()?;
                sleep(PAUSE);
            }
            Ok(())
        }
        Some(Kind::HugeBody(bytes)) => {
            let response = Response::new(200, " ".repeat(bytes));
            send(stream, &request, &response)
        }
        Some(Kind::Close) => Ok(()),
        None => send(stream, &request, &protocol::answer(shared, endpoint, number, &request.body)),
    }
}

/// Keeps an answer back until the authority ends.
fn stay_silent(shared: &Shared) {
    shared.state().held_back += 1;
    while !shared.has_ended() {
        sleep(PAUSE);
    }
}

/// Counts the request, and says what goes wrong with it.
fn begin(shared: &Shared, endpoint: Endpoint, request: &Request) -> Option<Kind> {
    let mut state = shared.state();
    *state.requests.entry(endpoint).or_insert(0) += 1;
    if let Some(misbehaviour) = state.misbehaviours.get(&endpoint) {
        return Some(misbehaviour.0.clone());
    }
    if request.method == "POST" {
        state.signed_requests += 1;
        if state.refuses_every_other_nonce && state.signed_requests % 2 == 1 {
            return Some(super::Misbehaviour::problem(400, "badNonce").0);
        }
    }
    None
}

fn read(stream: &mut BufReader<Tls>) -> io::Result<Request> {
    let mut first = String::new();
    stream.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let mut words = first.split(' ').map(str::to_owned);
    Ok(Request { method: words.next().unwrap_or_default(), path: words.next().unwrap_or_default(), body })
}

fn send(stream: &mut Tls, request: &Request, response: &Response) -> io::Result<()> {
    let Response { status, headers, body } = response;
    // No nonce is checked, so one value is as good as many.
    let head = format!(
        "HTTP/1.1 {status} Fake\r\n{headers}Replay-Nonce: bm9uY2U\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if request.method != "HEAD" {
        stream.write_all(body.as_bytes())?;
    }
    stream.conn.send_close_notify();
    stream.flush()
}
