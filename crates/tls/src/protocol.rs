//! What all handshakes share.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{ClientHello, NoServerSessionStorage, ProducesTickets, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{Error, ServerConfig};
use signpost_listener::ACME_TLS_1;

/// The only protocol that is offered: a visit is one request, so HTTP/2 would add attacks and save nothing (D182).
const HTTP_1_1: &[u8] = b"http/1.1";

/// How many session tickets a client gets. Browsers use one at a time (D193).
const TICKETS: usize = 1;

/// The versions, the algorithms and the ticket keys of all handshakes: TLS 1.2 and 1.3 with `ring`. Ticket keys are made by
/// this node, change every six hours and are not shared (D193).
#[derive(Debug, Clone)]
pub struct TlsProtocol {
    provider: Arc<CryptoProvider>,
    tickets: Arc<dyn ProducesTickets>,
}

impl TlsProtocol {
    /// Makes the keys of the tickets.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { provider: Arc::new(ring::default_provider()), tickets: ring::Ticketer::new()? })
    }

    pub(crate) const fn provider(&self) -> &Arc<CryptoProvider> {
        &self.provider
    }

    /// The configuration of handshakes with one certificate.
    pub(crate) fn config(&self, key: Arc<CertifiedKey>) -> Result<ServerConfig, Error> {
        let mut config = self.config_for(key, HTTP_1_1)?;
        config.ticketer = Arc::clone(&self.tickets);
        config.send_tls13_tickets = TICKETS;
        Ok(config)
    }

    /// The configuration of a handshake that ends before any request, with the certificate of a challenge.
    pub(crate) fn challenge_config(&self, key: Arc<CertifiedKey>) -> Result<ServerConfig, Error> {
        let mut config = self.config_for(key, ACME_TLS_1)?;
        config.send_tls13_tickets = 0;
        Ok(config)
    }

    fn config_for(&self, key: Arc<CertifiedKey>, protocol: &[u8]) -> Result<ServerConfig, Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(OneCertificate(key)));
        config.alpn_protocols = vec![protocol.to_vec()];
        // Sessions are in tickets only, so that clients cost no memory.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(config)
    }
}

/// The only certificate of a handshake: the listener has chosen it before.
#[derive(Debug)]
struct OneCertificate(Arc<CertifiedKey>);

impl ResolvesServerCert for OneCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}
