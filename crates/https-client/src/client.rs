//! One HTTPS request, with limits on everything that a server can make long.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue, USER_AGENT};
use hyper::http::response::Parts;
use hyper::http::uri::{PathAndQuery, Scheme};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How many addresses of a server get their turn within the time limit.
const ADDRESSES_IN_TIME: u32 = 4;

/// RFC 8555 section 6.1 demands a name with a version.
const AGENT: HeaderValue = HeaderValue::from_static(concat!("signpost/", env!("CARGO_PKG_VERSION")));

/// What a server may take of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time of a request, with its whole answer.
    pub time: Duration,
    /// The maximum length of an answer's body, in bytes.
    pub body: usize,
}

/// Sends requests, each over its own connection.
pub struct HttpsClient {
    tls: TlsConnector,
    limits: Limits,
    allows_plain_loopback: bool,
}

impl fmt::Debug for HttpsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpsClient").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A whole answer, with any status.
#[derive(Debug)]
pub struct Answer {
    /// The status and the headers.
    pub parts: Parts,
    /// The body.
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpsError {
    /// The client must not send requests to this URL.
    #[error("{0} is not an https URL")]
    NotHttps(String),
    /// No address of the host accepts connections.
    #[error("cannot connect to {host}: {reason}")]
    Connect {
        /// The host of the URL.
        host: String,
        /// Why, for the operator.
        reason: String,
    },
    /// The server did not prove that it is the host.
    #[error("no secure connection to {host}: {reason}")]
    Tls {
        /// The host of the URL.
        host: String,
        /// Why, for the operator.
        reason: String,
    },
    /// The connection ended, or the server does not speak HTTP.
    #[error("the exchange with {host} broke off: {reason}")]
    Exchange {
        /// The host of the URL.
        host: String,
        /// Why, for the operator.
        reason: String,
    },
    /// The answer is longer than the limit.
    #[error("{host} sent more than {limit} bytes")]
    TooLong {
        /// The host of the URL.
        host: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The time limit has passed.
    #[error("{host} did not answer within {limit:?}")]
    Silent {
        /// The host of the URL.
        host: String,
        /// The limit.
        limit: Duration,
    },
}

/// The parts of a URL that a request needs.
struct Destination {
    host: String,
    port: u16,
    authority: HeaderValue,
    path: Uri,
    is_secure: bool,
}

impl Destination {
    /// `None` if no request may be sent there.
    fn of(uri: &Uri, allows_plain_loopback: bool) -> Option<Self> {
        let authority = uri.authority()?;
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let is_secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP && allows_plain_loopback && is_loopback(&host) => false,
            _ => return None,
        };
        let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        Some(Self {
            host,
            port: authority.port_u16().unwrap_or(if is_secure { 443 } else { 80 }),
            authority: HeaderValue::from_str(authority.as_str()).ok()?,
            path: path.parse().ok()?,
            is_secure,
        })
    }
}

/// Whether a URL is `https`, or `http` with a host that is a name of this machine.
#[must_use]
pub fn is_https_or_loopback(uri: &Uri) -> bool {
    Destination::of(uri, true).is_some()
}

/// Whether a host is a name of this machine.
fn is_loopback(host: &str) -> bool {
    let name = host.to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

impl HttpsClient {
    /// A client that connects to `https` URLs only.
    #[must_use]
    pub fn new(config: ClientConfig, limits: Limits) -> Self {
        Self { tls: TlsConnector::from(Arc::new(config)), limits, allows_plain_loopback: false }
    }

    /// Also allows `http` URLs whose host is a name of this machine: what is sent there does not leave it.
    #[must_use]
    pub fn allowing_plain_loopback(self) -> Self {
        Self { allows_plain_loopback: true, ..self }
    }

    /// The whole answer of the server. Redirects are answers: following one could lead anywhere. Needs a Tokio runtime with time
    /// and network.
    ///
    /// # Errors
    /// See [`HttpsError`]. No message has the path, the query, a header or the body of the request.
    pub async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Answer, HttpsError> {
        let Some(destination) = Destination::of(request.uri(), self.allows_plain_loopback) else {
            return Err(HttpsError::NotHttps(without_query(request.uri())));
        };
        *request.uri_mut() = destination.path.clone();
        request.headers_mut().insert(HOST, destination.authority.clone());
        request.headers_mut().insert(USER_AGENT, AGENT);
        // The limit covers the body too: a server could send a byte a second.
        let exchange = timeout(self.limits.time, self.exchange(&destination, request)).await;
        exchange.unwrap_or_else(|_| {
            Err(HttpsError::Silent { host: destination.host.clone(), limit: self.limits.time })
        })
    }

    async fn exchange(
        &self,
        destination: &Destination,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, HttpsError> {
        let host = || destination.host.clone();
        let tcp = self
            .connect(destination)
            .await
            .map_err(|error| HttpsError::Connect { host: host(), reason: error.to_string() })?;
        if !destination.is_secure {
            return self.converse(&destination.host, tcp, request).await;
        }
        let name = ServerName::try_from(destination.host.clone())
            .map_err(|error| HttpsError::Tls { host: host(), reason: error.to_string() })?;
        let tls = self
            .tls
            .connect(name, tcp)
            .await
            .map_err(|error| HttpsError::Tls { host: host(), reason: error.to_string() })?;
        self.converse(&destination.host, tls, request).await
    }

    async fn converse<S>(
        &self,
        host: &str,
        stream: S,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, HttpsError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let host = || host.to_owned();
        let broken = |error: hyper::Error| HttpsError::Exchange { host: host(), reason: error.to_string() };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        let conversation = async {
            let (parts, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
            let limit = self.limits.body;
            let body = Limited::new(body, limit).collect().await.map_err(|error| {
                if error.is::<LengthLimitError>() {
                    HttpsError::TooLong { host: host(), limit }
                } else {
                    HttpsError::Exchange { host: host(), reason: error.to_string() }
                }
            })?;
            Ok(Answer { parts, body: body.to_bytes() })
        };
        // The connection moves the bytes, in this task, so that nothing of it outlives the call.
        let (mut connection, mut conversation) = (std::pin::pin!(connection), std::pin::pin!(conversation));
        tokio::select! {
            biased;
            answer = &mut conversation => answer,
            // Its end lets the conversation fail, or it has read everything before.
            _ = &mut connection => conversation.await,
        }
    }

    /// Connects to the first address that answers. Each gets a share of the time: where IPv6 leads nowhere, connections over it
    /// hang, and IPv4 must have its turn.
    async fn connect(&self, destination: &Destination) -> io::Result<TcpStream> {
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        for address in lookup_host((destination.host.as_str(), destination.port)).await? {
            match timeout(self.limits.time / ADDRESSES_IN_TIME, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(failure)
    }
}

/// A URL without its query, which may have a secret.
fn without_query(uri: &Uri) -> String {
    let text = uri.to_string();
    text.split('?').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(url: &str, allows_plain_loopback: bool) -> bool {
        Destination::of(&url.parse().unwrap(), allows_plain_loopback).is_some()
    }

    #[test]
    fn d77_plain_http_is_for_this_machine_only_and_only_on_request() {
        for url in ["https://a.example/x", "https://127.0.0.1", "https://[::1]:8443/"] {
            assert!(allowed(url, false) && allowed(url, true), "{url}");
        }
        for url in [
            "http://localhost:1",
            "http://LOCALHOST/",
            "http://127.0.0.1:9/x",
            "http://[::1]:9",
            "http://a.localhost",
        ] {
            assert!(!allowed(url, false) && allowed(url, true), "{url}");
        }
        for url in
            ["http://a.example", "http://10.0.0.1", "http://localhost.example", "ftp://localhost", "/x"]
        {
            assert!(!allowed(url, true), "{url}");
        }
    }
}
