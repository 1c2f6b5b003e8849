//! Reads certificates of the store for handshakes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use signpost_app::Application;
use signpost_app::certificates::Issuance;
use signpost_app::ports::{ServedCertificate, StoreError, StoredCertificate};
use signpost_domain::Hostname;
use signpost_edge::OutageLog;
use signpost_listener::{TlsSite, TlsSites};
use signpost_tls::{ServedCertificates, TlsCertificate, TlsProtocol};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How many handshakes read the store at once. Anybody may cause one, and visitors need the connections to the store.
const AT_ONCE: usize = 2;

/// How long a handshake waits for its turn, and for the store. Browsers try again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Turns what is stored into what is served.
#[derive(Clone)]
pub(crate) struct CertificateReader {
    pub(crate) app: Arc<Application>,
    pub(crate) served: Arc<ServedCertificates>,
    pub(crate) protocol: TlsProtocol,
    /// With another secrets key, no certificate can be opened.
    pub(crate) unopened: Arc<OutageLog>,
}

impl CertificateReader {
    /// Serves a stored certificate from now on: from memory, or from the store if the memory is full.
    pub(crate) fn serve(&self, stored: StoredCertificate) {
        let StoredCertificate { hostname, account, served, .. } = stored;
        let Some(certificate) = served else {
            self.served.remove(&hostname);
            return;
        };
        if certificate.validity.is_late(self.app.clock.now()) {
            let not_after = certificate.validity.not_after;
            tracing::warn!(%hostname, %not_after, "a certificate expires soon and was not renewed");
        }
        if !self.served.has_room_for(&hostname) {
            self.served.note(&hostname, account, certificate.validity);
            return;
        }
        if self.served.is_current(&hostname, account, &certificate.chain) {
            return;
        }
        // An earlier certificate of the hostname stays if this one cannot be opened: it may still be good for weeks.
        if let Some(certificate) = self.opened(&hostname, certificate) {
            self.served.put(&hostname, account, certificate);
        }
    }

    fn opened(&self, hostname: &Hostname, certificate: ServedCertificate) -> Option<TlsCertificate> {
        let issuance: &Issuance = self.app.issuance.as_ref()?;
        let Some(key) = issuance.open_key(hostname, &certificate) else {
            self.unopened.note(|unlogged| tracing::error!(
                %hostname,
                unlogged,
                "the key of a certificate was stored with another `secrets-key`: restore that file, or run `signpost certificate reset`"
            ));
            return None;
        };
        match TlsCertificate::from_chain(certificate.chain, key.pkcs8_der(), &self.protocol) {
            Ok(certificate) => Some(certificate),
            Err(error) => {
                tracing::error!(%hostname, %error, "a stored certificate cannot be served");
                None
            }
        }
    }

    /// Brings the certificate of a hostname into memory, in place of one that was not used for longest.
    async fn bring(&self, hostname: &Hostname) -> Result<(), StoreError> {
        let Some(stored) = self.app.store.certificate(hostname).await? else { return Ok(()) };
        let account = stored.account;
        if let Some(certificate) = stored.served.and_then(|served| self.opened(hostname, served)) {
            self.served.put(hostname, account, certificate);
        }
        Ok(())
    }
}

/// The certificates in memory, and in the store behind it (D185).
pub(crate) struct CertificateSites {
    reader: CertificateReader,
    turns: Semaphore,
}

impl CertificateSites {
    pub(crate) const fn new(reader: CertificateReader) -> Self {
        Self { reader, turns: Semaphore::const_new(AT_ONCE) }
    }

    async fn read(&self, server_name: Option<&str>) -> Option<TlsSite> {
        let served = &self.reader.served;
        // Without a certificate in the store, nobody waits.
        served.to_be_read(server_name)?;
        let _turn = self.turns.acquire().await.ok()?;
        // Another handshake may have brought it meanwhile.
        if let Some(hostname) = served.to_be_read(server_name)
            && let Err(error) = self.reader.bring(&hostname).await
        {
            tracing::debug!(%hostname, %error, "cannot read a certificate for a handshake");
        }
        served.site(server_name)
    }
}

impl TlsSites for CertificateSites {
    fn site(&self, server_name: Option<&str>) -> Option<TlsSite> {
        self.reader.served.site(server_name)
    }

    fn stored<'a>(&'a self, server_name: Option<&'a str>) -> BoxFuture<'a, Option<TlsSite>> {
        async move { timeout(PATIENCE, self.read(server_name)).await.ok().flatten() }.boxed()
    }

    fn has(&self, host: &str) -> bool {
        self.reader.served.has(host)
    }
}
