//! A client of HTTPS that shows how each handshake went.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    AlertDescription, ClientConfig, ClientConnection, Error, HandshakeKind, RootCertStore, StreamOwned,
};

/// How long to wait for each piece of an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A client that trusts only certain roots. It keeps the tickets of its connections, as browsers do.
#[derive(Debug, Clone)]
pub struct HttpsClient {
    config: Arc<ClientConfig>,
    address: SocketAddr,
    opening: Vec<u8>,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeFailure {
    /// The server closed it with the alert `unrecognized_name`.
    UnrecognizedName,
    /// The server closed it without an alert.
    Closed,
    /// Another reason, such as a certificate that is not trusted.
    Other(String),
}

/// An open connection.
#[derive(Debug)]
pub struct HttpsConnection(StreamOwned<ClientConnection, TcpStream>);

/// An answer.
#[derive(Debug, Clone)]
pub struct HttpsAnswer {
    /// The status.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The body.
    pub body: String,
}

impl HttpsAnswer {
    /// The value of a header, if the answer has it.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl HttpsClient {
    /// A client of the server at this address that trusts these certificates, as PEM.
    #[must_use]
    pub fn new(address: SocketAddr, roots: &str) -> Self {
        Self::offering(address, roots, &[])
    }

    /// A client that offers these protocols (ALPN), the best first.
    #[must_use]
    pub fn offering(address: SocketAddr, roots: &str, protocols: &[&str]) -> Self {
        let mut store = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(roots.as_bytes()) {
            store.add(root.unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = builder.unwrap().with_root_certificates(store).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Self { config: Arc::new(config), address, opening: Vec::new() }
    }

    /// Sends these bytes before the handshake of each connection, as balancers do.
    #[must_use]
    pub fn opening_with(mut self, opening: &[u8]) -> Self {
        self.opening = opening.to_vec();
        self
    }

    /// Connects, and verifies that the server has a trusted certificate for this name.
    ///
    /// # Errors
    /// The handshake failed.
    ///
    /// # Panics
    /// If the server does not accept TCP connections, or stays silent.
    pub fn connect(&self, name: &str) -> Result<HttpsConnection, HandshakeFailure> {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let mut tls = ClientConnection::new(self.config.clone(), name).unwrap();
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let shake = |tls: &mut ClientConnection, stream: &mut TcpStream| -> io::Result<()> {
            stream.write_all(&self.opening)?;
            while tls.is_handshaking() {
                tls.complete_io(stream)?;
            }
            Ok(())
        };
        match shake(&mut tls, &mut stream) {
            Ok(()) => Ok(HttpsConnection(StreamOwned::new(tls, stream))),
            Err(error) => Err(HandshakeFailure::of(&error)),
        }
    }

    /// Opens a path of a host on a new connection.
    ///
    /// # Errors
    /// The handshake failed.
    ///
    /// # Panics
    /// If there is no whole answer.
    pub fn get(&self, host: &str, path: &str) -> Result<HttpsAnswer, HandshakeFailure> {
        self.get_with(host, path, &[])
    }

    /// Opens a path of a host with these headers.
    ///
    /// # Errors
    /// The handshake failed.
    ///
    /// # Panics
    /// If there is no whole answer.
    pub fn get_with(
        &self,
        host: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<HttpsAnswer, HandshakeFailure> {
        Ok(self.connect(host)?.get_with(host, path, headers))
    }
}

impl HandshakeFailure {
    fn of(error: &io::Error) -> Self {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        match tls {
            Some(Error::AlertReceived(AlertDescription::UnrecognisedName)) => Self::UnrecognizedName,
            Some(other) => Self::Other(other.to_string()),
            None => match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                    Self::Closed
                }
                _ => Self::Other(error.to_string()),
            },
        }
    }
}

impl HttpsConnection {
    /// The protocol that the server has chosen.
    #[must_use]
    pub fn protocol(&self) -> Option<String> {
        self.0.conn.alpn_protocol().map(|protocol| String::from_utf8_lossy(protocol).into_owned())
    }

    /// Whether a ticket of an earlier connection took the place of the certificate.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.0.conn.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// The certificate of the server, in DER. A resumed connection has that of the first one.
    #[must_use]
    pub fn certificate(&self) -> Vec<u8> {
        self.0.conn.peer_certificates().unwrap()[0].to_vec()
    }

    /// Opens a path of this host, and reads the answer until the server closes.
    ///
    /// # Panics
    /// If there is no whole answer.
    #[must_use]
    pub fn get(self, host: &str, path: &str) -> HttpsAnswer {
        self.get_with(host, path, &[])
    }

    fn get_with(mut self, host: &str, path: &str, headers: &[(&str, &str)]) -> HttpsAnswer {
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for (name, value) in headers {
            request.extend([name, ": ", value, "\r\n"]);
        }
        request.push_str("\r\n");
        self.0.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A server that closes without `close_notify` has cut the answer short.
        self.0.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status: {head}"));
        HttpsAnswer { status, head: head.to_owned(), body: body.to_owned() }
    }
}
