//! D188: a certificate authority validates a hostname in a handshake.

use std::io;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rcgen::{CertificateParams, KeyPair};
use signpost_listener::{CertificateNames, TlsChallenges, TlsSite};
use signpost_test_servers::validation_client::validation_client;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};

use crate::harness::LONG;
use crate::tls::{HOST, TlsScene, same};

/// A name without a certificate, which an authority is about to validate.
const CHALLENGED: &str = "new.example.test";

/// A challenge for one name.
pub(crate) struct OneChallenge(TlsSite);

impl OneChallenge {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let names = [CHALLENGED.to_owned()];
        let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], secret)
            .unwrap();
        config.alpn_protocols = vec![b"acme-tls/1".to_vec()];
        Self(TlsSite { config: Arc::new(config), names: Arc::new(CertificateNames::new([CHALLENGED])) })
    }
}

impl TlsChallenges for OneChallenge {
    fn proof<'a>(&'a self, server_name: &'a str) -> BoxFuture<'a, Option<TlsSite>> {
        let is_known = self.0.names.cover(server_name);
        Box::pin(async move { is_known.then(|| self.0.clone()) })
    }
}

/// Begins a handshake that offers these protocols, and reads to the end of the connection. Returns how that ended, and the
/// protocol that was chosen. As in an authority, nobody need vouch for the certificate.
async fn offered(tls: &TlsScene, name: &str, protocols: &[&[u8]]) -> (io::Result<()>, Vec<u8>) {
    let config = validation_client(protocols);
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let stream = TcpStream::connect(tls.scene.address()).await.unwrap();
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    match tokio::time::timeout(LONG, connecting).await.unwrap() {
        Ok(mut stream) => {
            let mut rest = Vec::new();
            let ended = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await.unwrap();
            (ended.map(drop), stream.get_ref().1.alpn_protocol().unwrap_or_default().to_vec())
        }
        Err(error) => (Err(error), Vec::new()),
    }
}

#[tokio::test]
async fn d188_an_authority_gets_its_proof_in_a_handshake_that_ends_without_a_request() {
    let tls = TlsScene::start(same);
    let (ended, protocol) = offered(&tls, CHALLENGED, &[b"acme-tls/1"]).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(protocol, b"acme-tls/1");
    // A name that nobody validates, although it has a certificate.
    assert!(offered(&tls, HOST, &[b"acme-tls/1"]).await.0.is_err());
    // Only authorities offer nothing else.
    assert!(offered(&tls, CHALLENGED, &[b"acme-tls/1", b"http/1.1"]).await.0.is_err());
    assert!(offered(&tls, CHALLENGED, &[b"http/1.1"]).await.0.is_err());
}
