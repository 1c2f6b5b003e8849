//! One HTTPS request, with limits on everything that a server can make long.

use std::io;
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
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::clock_comparison::{ClockComparison, ClockDifference};

/// The maximum length of an answer. Chains of certificates have a few kilobytes.
const MAX_BODY: usize = 1 << 20;

/// How many addresses of a server get their turn within the time limit.
const ADDRESSES_IN_TIME: u32 = 4;

/// RFC 8555 section 6.1 demands a name with a version.
const AGENT: HeaderValue = HeaderValue::from_static(concat!("signpost/", env!("CARGO_PKG_VERSION")));

/// Sends requests, each over its own connection.
pub(crate) struct HttpsClient {
    tls: TlsConnector,
    time_limit: Duration,
    clocks: ClockComparison,
}

/// A whole answer, with any status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) parts: Parts,
    pub(crate) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpsError {
    #[error("{0} is not an https URL")]
    NotHttps(String),
    #[error("cannot connect to {host}: {reason}")]
    Connect { host: String, reason: String },
    #[error("no secure connection to {host}: {reason}")]
    Tls { host: String, reason: String },
    #[error("the exchange with {host} broke off: {reason}")]
    Exchange { host: String, reason: String },
    #[error("{host} sent more than {MAX_BODY} bytes")]
    TooLong { host: String },
    #[error("{host} did not answer within {limit:?}")]
    Silent { host: String, limit: Duration },
}

/// The parts of a URL that a request needs.
struct Destination {
    host: String,
    port: u16,
    authority: HeaderValue,
    path: Uri,
}

impl Destination {
    fn of(uri: &Uri) -> Option<Self> {
        let authority = uri.authority().filter(|_| uri.scheme() == Some(&Scheme::HTTPS))?;
        let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        Some(Self {
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(443),
            authority: HeaderValue::from_str(authority.as_str()).ok()?,
            path: path.parse().ok()?,
        })
    }
}

impl HttpsClient {
    pub(crate) fn new(config: ClientConfig, time_limit: Duration, clocks: ClockComparison) -> Self {
        Self { tls: TlsConnector::from(Arc::new(config)), time_limit, clocks }
    }

    /// How far this machine's clock was from the server's at the last answer, if that is far.
    pub(crate) fn clock_difference(&self) -> Option<ClockDifference> {
        self.clocks.difference()
    }

    /// The whole answer of the server. Redirects are answers: following one could lead anywhere.
    pub(crate) async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Answer, HttpsError> {
        let Some(destination) = Destination::of(request.uri()) else {
            return Err(HttpsError::NotHttps(request.uri().to_string()));
        };
        *request.uri_mut() = destination.path.clone();
        request.headers_mut().insert(HOST, destination.authority.clone());
        request.headers_mut().insert(USER_AGENT, AGENT);
        // The limit covers the body too: a server could send a byte a second.
        let exchange = timeout(self.time_limit, self.exchange(&destination, request)).await;
        let answer = exchange.unwrap_or_else(|_| {
            Err(HttpsError::Silent { host: destination.host.clone(), limit: self.time_limit })
        })?;
        self.clocks.note(&answer.parts.headers);
        Ok(answer)
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
        let name = ServerName::try_from(destination.host.clone())
            .map_err(|error| HttpsError::Tls { host: host(), reason: error.to_string() })?;
        let tls = self
            .tls
            .connect(name, tcp)
            .await
            .map_err(|error| HttpsError::Tls { host: host(), reason: error.to_string() })?;
        let broken = |error: hyper::Error| HttpsError::Exchange { host: host(), reason: error.to_string() };
        let (mut sender, connection) = http1::handshake(TokioIo::new(tls)).await.map_err(broken)?;
        let conversation = async {
            let (parts, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
            let body = Limited::new(body, MAX_BODY).collect().await.map_err(|error| {
                if error.is::<LengthLimitError>() {
                    HttpsError::TooLong { host: host() }
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
            match timeout(self.time_limit / ADDRESSES_IN_TIME, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(failure)
    }
}
