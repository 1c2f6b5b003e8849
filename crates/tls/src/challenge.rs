//! The certificate that proves to an authority that a hostname leads here (D188, RFC 8737).

use std::sync::Arc;

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use ring::digest::{SHA256, digest};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use signpost_domain::Hostname;
use signpost_listener::{CertificateNames, TlsSite};

use crate::protocol::TlsProtocol;

/// Why a proof cannot be made. No hostname that was parsed causes it.
#[derive(Debug, thiserror::Error)]
pub enum ChallengeError {
    /// The certificate cannot be made.
    #[error("cannot make the certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The key cannot be used.
    #[error("cannot use the key: {0}")]
    Key(#[from] rustls::Error),
}

/// How to answer a handshake that proves the hostname to the authority, which gave out the challenge with this key authorization.
/// The certificate is new each time and is of no use to others.
///
/// # Errors
/// The certificate or its key cannot be made.
pub fn challenge_site(
    protocol: &TlsProtocol,
    hostname: &Hostname,
    key_authorization: &str,
) -> Result<TlsSite, ChallengeError> {
    let key = KeyPair::generate()?;
    let mut parameters = CertificateParams::new(vec![hostname.as_str().to_owned()])?;
    let hash = digest(&SHA256, key_authorization.as_bytes());
    parameters.custom_extensions = vec![CustomExtension::new_acme_identifier(hash.as_ref())];
    let certificate = parameters.self_signed(&key)?;
    let secret = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let signing_key = protocol.provider().key_provider.load_private_key(secret)?;
    // Whether the key is that of the certificate is not checked: the check refuses the critical extension.
    let key = CertifiedKey::new(vec![certificate.der().clone()], signing_key);
    let names = CertificateNames::new([hostname.as_str()]);
    Ok(TlsSite { config: Arc::new(protocol.challenge_config(Arc::new(key))?), names: Arc::new(names) })
}

#[cfg(test)]
mod tests {
    use signpost_listener::ACME_TLS_1;
    use signpost_test_servers::validation_client::validation_client;
    use x509_parser::prelude::{FromDer as _, X509Certificate};

    use super::*;

    /// The extension `acmeIdentifier` of RFC 8737.
    const ACME_IDENTIFIER: &str = "1.3.6.1.5.5.7.1.31";

    /// What a handshake with this configuration shows a client that offers only the protocol of challenges.
    fn shown(site: TlsSite, name: &'static str) -> Vec<u8> {
        let mut client = client(name);
        let mut server = rustls::ServerConnection::new(site.config).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets().unwrap();
            let mut bytes = Vec::new();
            server.write_tls(&mut bytes).unwrap();
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client.process_new_packets().unwrap();
        }
        assert_eq!(client.alpn_protocol(), Some(ACME_TLS_1));
        client.peer_certificates().unwrap()[0].to_vec()
    }

    #[test]
    fn d188_the_certificate_has_the_hash_of_the_key_authorization() {
        let hostname = Hostname::parse("go.example.com").unwrap();
        let site = challenge_site(&TlsProtocol::new().unwrap(), &hostname, "token.thumbprint").unwrap();
        let der = shown(site, "go.example.com");
        let (_, certificate) = X509Certificate::from_der(&der).unwrap();
        let extensions = certificate.extensions();
        let proof = extensions.iter().find(|one| one.oid.to_id_string() == ACME_IDENTIFIER).unwrap();
        assert!(proof.critical);
        // An octet string of 32 bytes.
        let hash = digest(&SHA256, b"token.thumbprint");
        assert_eq!(proof.value, [&[4, 32], hash.as_ref()].concat());
        let names = certificate.subject_alternative_name().unwrap().unwrap();
        assert_eq!(format!("{:?}", names.value.general_names), "[DNSName(\"go.example.com\")]");
    }

    fn client(name: &'static str) -> rustls::ClientConnection {
        let config = validation_client(&[ACME_TLS_1]);
        rustls::ClientConnection::new(Arc::new(config), name.try_into().unwrap()).unwrap()
    }
}
