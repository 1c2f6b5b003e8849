//! Whom to trust to vouch for a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The root certificates for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustRoots {
    /// Those of the system.
    System,
    /// Only those in this PEM file, for a private authority.
    PemFile(PathBuf),
}

/// Why there are no root certificates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustRootsError {
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

impl TrustRoots {
    /// A TLS configuration that trusts these roots.
    ///
    /// # Errors
    /// There are no usable roots.
    pub fn client_config(&self) -> Result<ClientConfig, TrustRootsError> {
        let roots = match self {
            Self::System => of_system(rustls_native_certs::load_native_certs().certs)?,
            Self::PemFile(path) => from_file(path)?,
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| TrustRootsError::Tls(error.to_string()))?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// Skips unreadable certificates of the system, unless none is left.
fn of_system(certificates: Vec<CertificateDer<'static>>) -> Result<RootCertStore, TrustRootsError> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    if store.is_empty() { Err(TrustRootsError::NoSystemRoots) } else { Ok(store) }
}

fn from_file(path: &Path) -> Result<RootCertStore, TrustRootsError> {
    let failed = |reason: String| TrustRootsError::RootsFile { path: path.to_path_buf(), reason };
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
        assert_eq!(of_system(Vec::new()).map(drop), Err(TrustRootsError::NoSystemRoots));
        let path = PathBuf::from("/nowhere/roots.pem");
        let refused = TrustRoots::PemFile(path).client_config().map(drop).unwrap_err();
        assert!(refused.to_string().starts_with("/nowhere/roots.pem has no usable root"), "{refused}");
    }
}
