//! What a listener needs to speak TLS: who chooses certificates, and which hosts a certificate covers.

use std::fmt;
use std::sync::Arc;

use actix_http::header::HeaderValue;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use tokio_rustls::rustls::ServerConfig;

/// The only protocol that the handshake of a certificate authority offers, which asks for a proof in the certificate (RFC 8737).
pub const ACME_TLS_1: &[u8] = b"acme-tls/1";

/// How a listener speaks TLS.
#[derive(Clone)]
pub struct TlsOptions {
    /// Chooses the certificate of each handshake.
    pub sites: Arc<dyn TlsSites>,
    /// Answers handshakes that a certificate authority begins to validate a hostname. `None` answers none.
    pub challenges: Option<Arc<dyn TlsChallenges>>,
    /// The value of `Strict-Transport-Security` on every answer. `None` sends no such header.
    pub strict_transport_security: Option<HeaderValue>,
}

impl fmt::Debug for TlsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsOptions")
            .field("strict_transport_security", &self.strict_transport_security)
            .finish_non_exhaustive()
    }
}

/// Chooses the certificates of a listener.
pub trait TlsSites: Send + Sync + 'static {
    /// How to answer a client that asks for `server_name`, or for no name. `None` closes the connection without a signature, so
    /// an unknown name costs almost nothing (D184). Every handshake waits for it, so it answers from memory.
    fn site(&self, server_name: Option<&str>) -> Option<TlsSite>;

    /// How to answer if [`site`](Self::site) has nothing in memory: what a store has. Anybody may ask, so an implementation must
    /// bound what this costs. By default there is no store.
    fn stored<'a>(&'a self, _server_name: Option<&'a str>) -> BoxFuture<'a, Option<TlsSite>> {
        ready(None).boxed()
    }

    /// Whether there is a certificate for a host, in memory or in a store.
    fn has(&self, host: &str) -> bool {
        self.site(Some(host)).is_some()
    }
}

/// Proves to certificate authorities that hostnames lead here (D188). Such a handshake ends without a request.
pub trait TlsChallenges: Send + Sync + 'static {
    /// How to answer an authority that asks for `server_name`. `None` closes the connection as for an unknown name. Anybody may ask,
    /// so an implementation must bound what this costs.
    fn proof<'a>(&'a self, server_name: &'a str) -> BoxFuture<'a, Option<TlsSite>>;
}

/// A certificate as a listener uses it.
#[derive(Clone)]
pub struct TlsSite {
    /// The certificate, its key, and the versions and protocols offered.
    pub config: Arc<ServerConfig>,
    /// The names of the certificate.
    pub names: Arc<CertificateNames>,
}

/// The DNS names that a certificate is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateNames {
    names: Box<[Box<str>]>,
}

impl CertificateNames {
    /// These names, of which each may begin with `*.` for any single label.
    pub fn new<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(|name| name.as_ref().to_ascii_lowercase().into()).collect() }
    }

    /// The names in lower case.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }

    /// Whether the certificate is for this host, in upper or lower case and with or without the dot of the root.
    #[must_use]
    pub fn cover(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        self.iter().any(|name| match name.strip_prefix("*.") {
            Some(parent) => host
                .split_once('.')
                .is_some_and(|(label, rest)| !label.is_empty() && rest.eq_ignore_ascii_case(parent)),
            None => host.eq_ignore_ascii_case(name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d181_a_certificate_covers_its_names_and_one_label_of_a_wildcard() {
        let names = CertificateNames::new(["Go.example.com", "*.example.org"]);
        for host in ["go.example.com", "GO.example.com", "go.example.com.", "a.example.org", "B.Example.ORG"]
        {
            assert!(names.cover(host), "{host}");
        }
        for host in
            ["example.com", "a.go.example.com", "example.org", ".example.org", "a.b.example.org", "", "*"]
        {
            assert!(!names.cover(host), "{host}");
        }
    }
}
