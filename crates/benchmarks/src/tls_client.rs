//! A client of servers that speak TLS with one certificate.

use std::fmt;
use std::net::TcpStream;
use std::sync::Arc;

use anyhow::Result;
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The name in handshakes. The certificate must be for it.
const NAME: &str = "localhost";

/// Begins TLS connections.
#[derive(Clone)]
pub(super) struct TlsClient(Arc<ClientConfig>);

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsClient")
    }
}

impl TlsClient {
    /// A client that trusts this certificate in PEM. If it resumes, each connection uses a ticket of an earlier one.
    pub(super) fn trusting(certificate: &str, resumes: bool) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(certificate.as_bytes())?)?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        if !resumes {
            config.resumption = Resumption::disabled();
        }
        Ok(Self(Arc::new(config)))
    }

    /// A connection whose handshake happens with the first byte.
    pub(super) fn over(&self, stream: TcpStream) -> Result<StreamOwned<ClientConnection, TcpStream>> {
        let session = ClientConnection::new(Arc::clone(&self.0), ServerName::try_from(NAME)?)?;
        Ok(StreamOwned::new(session, stream))
    }
}
