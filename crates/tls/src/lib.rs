//! The certificates with which the listeners speak TLS.
//!
//! [`TlsCertificate`] is one certificate with its key, checked when it is read. [`ServedCertificates`] has those of the
//! installation in memory, and chooses one for each handshake. [`TlsProtocol`] has what all handshakes share: the versions, the
//! algorithms and the keys of session tickets.

mod certificate;
mod challenge;
mod issued;
mod protocol;
mod served_certificates;

pub use rustls::Error as TlsError;

pub use certificate::{CertificateError, TlsCertificate};
pub use challenge::{ChallengeError, challenge_site};
pub use protocol::TlsProtocol;
pub use served_certificates::{CertificatesOverview, ServedCertificates};
