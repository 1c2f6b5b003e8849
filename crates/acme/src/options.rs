//! The options of the client: which authority, and how to trust it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The directory of Let's Encrypt.
pub const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// The options of an [`AcmeAuthority`](crate::AcmeAuthority).
#[derive(Debug, Clone)]
pub struct AcmeOptions {
    /// The `https` URL of the authority's directory.
    pub directory: String,
    /// The profile of certificates to order; `None` for the authority's own choice.
    pub profile: Option<String>,
    /// What some authorities demand for an account.
    pub external_account: Option<ExternalAccount>,
    /// Whom to trust to vouch for the authority's own server.
    pub roots: AcmeRoots,
    /// The time limit of one request. A call makes several, and ends after three times as long.
    pub time_limit: Duration,
}

impl Default for AcmeOptions {
    fn default() -> Self {
        Self {
            directory: LETS_ENCRYPT.to_owned(),
            profile: None,
            external_account: None,
            roots: AcmeRoots::System,
            time_limit: Duration::from_secs(10),
        }
    }
}

/// Binds a new account to a customer of the authority (RFC 8555 section 7.3.4).
#[derive(Clone)]
pub struct ExternalAccount {
    /// The name of the key.
    pub key_id: String,
    /// The secret key, decoded.
    pub key: Vec<u8>,
}

impl fmt::Debug for ExternalAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalAccount").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

/// The root certificates for the authority's own server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcmeRoots {
    /// Those of the system.
    System,
    /// Only those in this PEM file, for a private authority.
    PemFile(PathBuf),
}

/// Why the options are unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcmeOptionsError {
    /// The directory is not an `https` URL with a host.
    #[error("`{0}` is not the https URL of an authority's directory")]
    Directory(String),
    /// The file has no usable certificates.
    #[error("{} has no usable root certificates: {reason}", .path.display())]
    RootsFile {
        /// The file.
        path: PathBuf,
        /// Why, for the operator.
        reason: String,
    },
    /// The system has no root certificates.
    #[error("the system has no root certificates: install ca-certificates, or name a file with roots")]
    NoSystemRoots,
    /// The TLS library refused its own defaults.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl AcmeRoots {
    /// A TLS configuration that trusts these roots.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, AcmeOptionsError> {
        let roots = match self {
            Self::System => of_system(rustls_native_certs::load_native_certs().certs)?,
            Self::PemFile(path) => from_file(path)?,
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| AcmeOptionsError::Tls(error.to_string()))?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// Skips unreadable certificates of the system, unless none is left.
fn of_system(certificates: Vec<CertificateDer<'static>>) -> Result<RootCertStore, AcmeOptionsError> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    if store.is_empty() { Err(AcmeOptionsError::NoSystemRoots) } else { Ok(store) }
}

fn from_file(path: &Path) -> Result<RootCertStore, AcmeOptionsError> {
    let failed = |reason: String| AcmeOptionsError::RootsFile { path: path.to_path_buf(), reason };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))? {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        store.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if store.is_empty() { Err(failed("it contains no certificate".to_owned())) } else { Ok(store) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d180_missing_roots_are_reported() {
        assert_eq!(of_system(Vec::new()).map(drop), Err(AcmeOptionsError::NoSystemRoots));
        let path = PathBuf::from("/nowhere/roots.pem");
        let refused = AcmeRoots::PemFile(path).client_config().map(drop).unwrap_err();
        assert!(refused.to_string().starts_with("/nowhere/roots.pem has no usable root"), "{refused}");
    }

    #[test]
    fn d180_the_external_key_is_not_in_debug_texts() {
        let external = ExternalAccount { key_id: "kid-1".to_owned(), key: vec![77; 4] };
        assert_eq!(format!("{external:?}"), "ExternalAccount { key_id: \"kid-1\", .. }");
    }
}
