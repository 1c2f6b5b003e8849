//! Certificates for the HTTPS servers of tests.

use rcgen::{CertifiedKey, generate_simple_self_signed};

/// A certificate of `localhost` and `127.0.0.1` that clients trust as a root, and its key, as PEM.
#[derive(Debug, Clone)]
pub(crate) struct LocalCertificate {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl LocalCertificate {
    pub(crate) fn new() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        Self { certificate: cert.pem(), key: signing_key.serialize_pem() }
    }
}
