//! Certificates for HTTPS servers in tests.

use rcgen::{CertifiedKey, generate_simple_self_signed};

/// A certificate that clients trust as a root, and its key, as PEM.
#[derive(Debug, Clone)]
pub struct LocalCertificate {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

impl LocalCertificate {
    /// A new one of `localhost` and `127.0.0.1`, which is valid for decades.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Self {
        Self::of(&["localhost", "127.0.0.1"])
    }

    /// A certificate of these names, with a new key.
    #[must_use]
    pub fn of(names: &[&str]) -> Self {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        Self { certificate: cert.pem(), key: signing_key.serialize_pem() }
    }
}
