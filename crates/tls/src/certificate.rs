//! One certificate with its key.

use std::fmt;
use std::sync::Arc;

use rustls::InconsistentKeys;
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use signpost_domain::{Timestamp, Validity};
use signpost_listener::{CertificateNames, TlsSite};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::protocol::TlsProtocol;

/// Why a certificate or its key cannot be used. No message has a byte of the key.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The text has no certificate in PEM.
    #[error(
        "has no certificate: it must be a PEM file with `-----BEGIN CERTIFICATE-----`, the server's own certificate first"
    )]
    NoCertificate,
    /// The certificate is not X.509.
    #[error("has a certificate that cannot be read: {0}")]
    UnreadableCertificate(String),
    /// The certificate is for no DNS name.
    #[error("has a certificate without DNS names, so no browser would accept it for any host")]
    NoNames,
    /// The text has no private key in PEM.
    #[error("has no private key: it must be a PEM file with `-----BEGIN PRIVATE KEY-----`, not encrypted")]
    NoKey,
    /// The key's type is not supported.
    #[error("has a private key that cannot be used: {0}. RSA, ECDSA (P-256, P-384) and Ed25519 keys can")]
    UnusableKey(rustls::Error),
    /// The key is not that of the certificate.
    #[error("has the private key of another certificate")]
    OtherKey,
}

/// A certificate with its chain, its key, its names and its dates.
#[derive(Clone)]
pub struct TlsCertificate {
    site: TlsSite,
    validity: Validity,
    /// The certificate as handshakes send it.
    key: Arc<CertifiedKey>,
}

impl fmt::Debug for TlsCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsCertificate")
            .field("names", &self.site.names)
            .field("not_after", &self.validity.not_after)
            .finish_non_exhaustive()
    }
}

impl TlsCertificate {
    /// Reads a chain and its key from PEM, the server's own certificate first.
    ///
    /// # Errors
    /// One of them cannot be read, or the key is not that of the certificate.
    pub fn from_pem(chain: &[u8], key: &[u8], protocol: &TlsProtocol) -> Result<Self, CertificateError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, PemError>>()
            .map_err(|error| CertificateError::UnreadableCertificate(error.to_string()))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| CertificateError::NoKey)?;
        Self::from_der(chain, key, protocol)
    }

    /// Reads a chain and its key in PKCS#8 from DER.
    ///
    /// # Errors
    /// One of them cannot be read, or the key is not that of the certificate.
    pub fn from_chain(
        chain: Vec<Vec<u8>>,
        pkcs8_der: &[u8],
        protocol: &TlsProtocol,
    ) -> Result<Self, CertificateError> {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(pkcs8_der.to_vec()));
        Self::from_der(chain.into_iter().map(CertificateDer::from).collect(), key, protocol)
    }

    fn from_der(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        protocol: &TlsProtocol,
    ) -> Result<Self, CertificateError> {
        let first = chain.first().ok_or(CertificateError::NoCertificate)?;
        let unreadable =
            |error: &dyn fmt::Display| CertificateError::UnreadableCertificate(error.to_string());
        let (_, parsed) = X509Certificate::from_der(first).map_err(|error| unreadable(&error))?;
        let names = dns_names(&parsed).map_err(|error| unreadable(&error))?;
        if names.iter().next().is_none() {
            return Err(CertificateError::NoNames);
        }
        let dates = parsed.validity();
        let validity = Validity {
            not_before: instant(dates.not_before.timestamp()),
            not_after: instant(dates.not_after.timestamp()),
        };
        let key = CertifiedKey::from_der(chain, key, protocol.provider()).map_err(|error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => CertificateError::OtherKey,
            rustls::Error::InvalidCertificate(_) => unreadable(&error),
            _ => CertificateError::UnusableKey(error),
        })?;
        let key = Arc::new(key);
        let config = protocol.config(Arc::clone(&key)).map_err(CertificateError::UnusableKey)?;
        let site = TlsSite { config: Arc::new(config), names: Arc::new(names) };
        Ok(Self { site, validity, key })
    }

    /// The names that it is for.
    #[must_use]
    pub fn names(&self) -> &CertificateNames {
        &self.site.names
    }

    /// From when to when clients accept it.
    #[must_use]
    pub const fn validity(&self) -> Validity {
        self.validity
    }

    /// Whether this is the chain in DER.
    #[must_use]
    pub fn has_chain(&self, chain: &[Vec<u8>]) -> bool {
        self.key.cert.iter().map(AsRef::as_ref).eq(chain.iter().map(Vec::as_slice))
    }

    pub(crate) const fn site(&self) -> &TlsSite {
        &self.site
    }
}

/// The DNS names of a certificate. Clients ignore the common name of its subject, and so does this.
fn dns_names(certificate: &X509Certificate<'_>) -> Result<CertificateNames, x509_parser::error::X509Error> {
    let extension = certificate.subject_alternative_name()?;
    let names = extension.iter().flat_map(|extension| &extension.value.general_names);
    Ok(CertificateNames::new(names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(*name),
        _ => None,
    })))
}

/// An instant from seconds since 1970; the first or the last one that there is, if it lies beyond.
fn instant(seconds: i64) -> Timestamp {
    let end = if seconds < 0 { Timestamp::EPOCH } else { Timestamp::LAST };
    seconds.checked_mul(1_000).and_then(Timestamp::from_unix_millis).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(names: &[&str]) -> (String, String) {
        let key = rcgen::KeyPair::generate().unwrap();
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let mut parameters = rcgen::CertificateParams::new(names).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2026, 1, 2);
        parameters.not_after = rcgen::date_time_ymd(2026, 4, 2);
        let certificate = parameters.self_signed(&key).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn read(chain: &str, key: &str) -> Result<TlsCertificate, CertificateError> {
        TlsCertificate::from_pem(chain.as_bytes(), key.as_bytes(), &TlsProtocol::new().unwrap())
    }

    #[test]
    fn d180_a_certificate_is_read_with_its_names_and_dates() {
        let (chain, key) = issued(&["go.example.com", "*.example.org"]);
        let read = read(&chain, &key).unwrap();
        assert_eq!(read.names().iter().collect::<Vec<_>>(), ["go.example.com", "*.example.org"]);
        let Validity { not_before, not_after } = read.validity();
        let dates = [not_before, not_after].map(|date| date.to_string());
        assert_eq!(dates, ["2026-01-02T00:00:00.000Z", "2026-04-02T00:00:00.000Z"]);
    }

    #[test]
    fn d180_unusable_files_are_refused_without_their_key() {
        let (chain, key) = issued(&["go.example.com"]);
        let (_, other_key) = issued(&["go.example.com"]);
        let (without_names, its_key) = issued(&[]);
        for (chain, key, part) in [
            ("", key.as_str(), "has no certificate"),
            (key.as_str(), &key, "has no certificate"),
            (&chain, "", "has no private key"),
            (&chain, &chain, "has no private key"),
            (&chain, &other_key, "of another certificate"),
            (&without_names, &its_key, "without DNS names"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &key, "cannot be read"),
        ] {
            let message = read(chain, key).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
            let secret = key.lines().nth(1).filter(|line| !line.is_empty());
            assert!(secret.is_none_or(|secret| !message.contains(secret)), "{message}");
        }
    }
}
