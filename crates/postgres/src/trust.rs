//! Whose certificates are trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::connection_url::not_a_url;
use crate::open_error::OpenError;

/// TLS with servers whose certificates one of those in the file vouches for, or one of the system's if no file is named.
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
        return Err(failed("there are none in it".to_owned()));
    }
    Ok(store)
}

/// What cannot be read among the system's is none of our business, unless nothing is left.
fn parsable(certificates: Vec<CertificateDer<'static>>) -> Result<RootCertStore, OpenError> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    if store.is_empty() { Err(OpenError::NobodyTrusted) } else { Ok(store) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_trusts_nobody_is_told_so() {
        for certificates in [vec![], vec![CertificateDer::from(b"nonsense".to_vec())]] {
            let refused = parsable(certificates).map(drop).unwrap_err();
            assert!(refused.to_string().contains("sslrootcert"), "{refused}");
        }
    }
}
