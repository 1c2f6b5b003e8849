//! A cheap connection to the API: it is kept alive, and parses only the necessary parts of an answer.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use anyhow::{Context as _, Result, ensure};
use rustls::{ClientConnection, StreamOwned};

use signpost_xtask::program::Program;

use crate::tls_client::TlsClient;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";
/// The position of the status in `HTTP/1.1 200 OK`.
const STATUS: std::ops::Range<usize> = 9..12;

/// The time limit of an answer that is read only for its status.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

const LENGTH: &str = "content-length: ";

/// The address of the API, with the key of a caller.
#[derive(Debug, Clone)]
pub(super) struct ApiClient {
    host: String,
    key: String,
}

impl ApiClient {
    pub(super) fn new(program: &Program, key: &str) -> Self {
        Self { host: program.api.trim_start_matches("http://").to_owned(), key: key.to_owned() }
    }

    pub(super) fn connect(&self) -> Result<Connection> {
        Connection::open(&self.host)
    }

    /// A request as bytes.
    pub(super) fn request(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let Self { host, key } = self;
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n");
        let body = match method {
            "GET" => "\r\n".to_owned(),
            _ => {
                format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
        };
        (head + &body).into_bytes()
    }
}

/// An answer as received.
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
    whole: &'a [u8],
}

impl Answer<'_> {
    /// The lines before the body.
    pub(super) fn head(&self) -> String {
        let length = self.whole.len() - self.body.len();
        String::from_utf8_lossy(self.whole.get(..length).unwrap_or_default()).into_owned()
    }
}

/// The bytes of a connection.
enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    const fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &tls.sock,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}

/// A connection with one request at a time.
pub(super) struct Connection {
    stream: Stream,
    answer: Vec<u8>,
}

impl Connection {
    /// Connects to a server.
    pub(super) fn open(address: &str) -> Result<Self> {
        Self::open_by(address, None)
    }

    /// Connects to a server, over TLS if a client for it is given.
    pub(super) fn open_by(address: &str, tls: Option<&TlsClient>) -> Result<Self> {
        let stream = TcpStream::connect(address).context("cannot connect to the program")?;
        stream.set_nodelay(true)?;
        let stream = match tls {
            Some(tls) => Stream::Tls(Box::new(tls.over(stream)?)),
            None => Stream::Plain(stream),
        };
        Ok(Self { stream, answer: vec![0; 1 << 16] })
    }

    /// Sends a request with `Connection: close`, and returns the status of its answer.
    pub(super) fn status(&mut self, request: &[u8]) -> Result<u16> {
        self.stream.socket().set_read_timeout(Some(PATIENCE))?;
        self.stream.write_all(request)?;
        let mut answer = Vec::new();
        self.stream.read_to_end(&mut answer)?;
        let status = answer.get(STATUS).context("the answer has no status")?;
        Ok(std::str::from_utf8(status)?.parse()?)
    }

    /// Sends a request, and returns the body of its answer, which must be a success or a redirect.
    pub(super) fn send(&mut self, request: &[u8]) -> Result<&[u8]> {
        let Answer { status, body, whole } = self.exchange(request)?;
        ensure!(status == 302 || (200..300).contains(&status), "{}", String::from_utf8_lossy(whole));
        Ok(body)
    }

    /// Sends a request, and returns its answer with any status.
    pub(super) fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.ask(request)?;
        self.receive()
    }

    /// Sends a request without waiting for its answer.
    pub(super) fn ask(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request)?)
    }

    /// Returns the answer to the request sent last, with any status.
    pub(super) fn receive(&mut self) -> Result<Answer<'_>> {
        let mut filled = 0_usize;
        let head = loop {
            let from = filled.saturating_sub(END_OF_HEAD.len());
            filled += self.read(filled)?;
            let new = self.answer.get(from..filled).unwrap_or_default();
            if let Some(end) = new.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) {
                break from + end + END_OF_HEAD.len();
            }
        };
        let text = std::str::from_utf8(self.answer.get(..head).unwrap_or_default())?;
        let status = text.get(STATUS).context("the answer has no status")?.parse()?;
        let lines = text.lines().filter_map(|line| line.split_at_checked(LENGTH.len()));
        let length = lines
            .filter(|(name, _)| name.eq_ignore_ascii_case(LENGTH))
            .find_map(|(_, length)| length.parse::<usize>().ok())
            .context("the answer has no content length")?;
        while filled < head + length {
            filled += self.read(filled)?;
        }
        let whole = self.answer.get(..head + length).unwrap_or_default();
        Ok(Answer { status, body: whole.get(head..).unwrap_or_default(), whole })
    }

    fn read(&mut self, filled: usize) -> Result<usize> {
        if filled == self.answer.len() {
            self.answer.resize(filled * 2, 0);
        }
        let room = self.answer.get_mut(filled..).unwrap_or_default();
        let read = self.stream.read(room)?;
        ensure!(read > 0, "the program has closed the connection");
        Ok(read)
    }
}

/// A connection to the API of a program, for posts that must succeed.
pub(super) struct Api {
    caller: ApiClient,
    connection: Connection,
}

impl Api {
    pub(super) fn connect(program: &Program) -> Result<Self> {
        let caller = ApiClient::new(program, &program.key);
        let connection = caller.connect()?;
        Ok(Self { caller, connection })
    }

    /// Posts a body, and waits for a successful answer.
    pub(super) fn post(&mut self, path: &str, body: &str) -> Result<String> {
        let answer = self.connection.send(&self.caller.request("POST", path, body))?;
        let answer = String::from_utf8(answer.to_vec())?;
        ensure!(!answer.contains("\"failed_count\":") || answer.contains("\"failed_count\":0"), "{answer}");
        Ok(answer)
    }
}
