//! The root certificates for TLS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::connection_url::not_a_url;
use crate::open_error::OpenError;

/// A TLS configuration that trusts the roots in the file, or the system's roots without a file.
pub(crate) fn client_config(roots: Option<PathBuf>) -> Result<ClientConfig, OpenError> {
    let roots = match roots {
        Some(path) => from_file(&path)?,
        None => parsable(rustls_native_certs::load_native_certs().certs)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = versions.map_err(|error| not_a_url(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn from_file(path: &Path) -> Result<RootCertStore, OpenError> {
    let failed = |reason: String| OpenError::NoCertificates { path: path.to_path_buf(), reason };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))? {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        store.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(failed("it contains no certificate".to_owned()));
    }
    Ok(store)
}

/// Skips unreadable certificates of the system, unless none is left.
fn parsable(certificates: Vec<CertificateDer<'static>>) -> Result<RootCertStore, OpenError> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    if store.is_empty() { Err(OpenError::NoTrustedRoots) } else { Ok(store) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_without_root_certificates_is_reported() {
        for certificates in [vec![], vec![CertificateDer::from(b"nonsense".to_vec())]] {
            let refused = parsable(certificates).map(drop).unwrap_err();
            assert!(refused.to_string().contains("sslrootcert"), "{refused}");
        }
    }
}
