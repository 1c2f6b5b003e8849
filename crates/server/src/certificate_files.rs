//! The operator's own certificate, in files that are followed (D180).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use signpost_tls::{CertificateError, ServedCertificates, TlsCertificate, TlsProtocol};
use tokio::task::JoinHandle;

use crate::followed_file::{self, FollowedFile};

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{} {problem}", path.display())]
pub(crate) struct CertificateFilesError {
    path: PathBuf,
    /// Whether the key is to blame, and not the certificate.
    pub(crate) is_of_key: bool,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error(transparent)]
    Unusable(CertificateError),
    #[error("cannot be used: {0}")]
    NoTls(signpost_tls::TlsError),
}

/// A certificate and its key, each in a file.
#[derive(Debug)]
pub(crate) struct CertificateFiles {
    certificate: FollowedFile,
    key: FollowedFile,
    protocol: TlsProtocol,
    /// The certificate as it was when the program started.
    first: TlsCertificate,
}

impl CertificateFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// One of them cannot be read, or they do not belong together.
    pub(crate) fn open(certificate: PathBuf, key: PathBuf) -> Result<Self, CertificateFilesError> {
        let protocol = TlsProtocol::new().map_err(|error| CertificateFilesError {
            path: certificate.clone(),
            is_of_key: false,
            problem: Problem::NoTls(error),
        })?;
        let (certificate, key) = (FollowedFile::new(certificate), FollowedFile::new(key));
        let first = read(&certificate, &key, &protocol)?;
        Ok(Self { certificate, key, protocol, first })
    }

    pub(crate) fn certificate_path(&self) -> &Path {
        self.certificate.path()
    }

    pub(crate) fn key_path(&self) -> &Path {
        self.key.path()
    }

    /// The certificate as it was when the program started.
    pub(crate) const fn first(&self) -> &TlsCertificate {
        &self.first
    }

    /// Serves the certificate, and follows the files until the task is aborted.
    pub(crate) fn follow(self: &Arc<Self>, served: Arc<ServedCertificates>) -> JoinHandle<()> {
        served.set_own(self.first.clone());
        let followed = Arc::new(Followed { files: Arc::clone(self), served });
        followed_file::follow(&followed, Followed::look)
    }
}

/// The files, and where their certificate is served.
struct Followed {
    files: Arc<CertificateFiles>,
    served: Arc<ServedCertificates>,
}

impl Followed {
    /// Reads both files again if one has changed. If they do not belong together, the old certificate stays: the other file may
    /// be about to change too.
    fn look(&self) {
        let CertificateFiles { certificate, key, protocol, first: _ } = &*self.files;
        // Both are looked at in any case, so that a change of either is noticed once.
        let has_changed = [certificate.must_be_read(), key.must_be_read()].contains(&true);
        if !has_changed {
            return;
        }
        match read(certificate, key, protocol) {
            Ok(new) => {
                tracing::info!(not_after = %new.validity().not_after, "serving the changed certificate of `tls-certificate`");
                self.served.set_own(new);
            }
            Err(error) => {
                tracing::error!(%error, "cannot use the changed certificate; the previous one is still served");
            }
        }
    }
}

fn read(
    certificate: &FollowedFile,
    key: &FollowedFile,
    protocol: &TlsProtocol,
) -> Result<TlsCertificate, CertificateFilesError> {
    let contents = |file: &FollowedFile, is_of_key| {
        fs::read(file.path()).map_err(|error| CertificateFilesError {
            path: file.path().to_owned(),
            is_of_key,
            problem: Problem::Unreadable(error),
        })
    };
    let (chain, secret) = (contents(certificate, false)?, contents(key, true)?);
    TlsCertificate::from_pem(&chain, &secret, protocol).map_err(|error| {
        let is_of_key = match error {
            CertificateError::NoKey | CertificateError::UnusableKey(_) | CertificateError::OtherKey => true,
            CertificateError::NoCertificate
            | CertificateError::UnreadableCertificate(_)
            | CertificateError::NoNames => false,
        };
        let file = if is_of_key { key } else { certificate };
        CertificateFilesError { path: file.path().to_owned(), is_of_key, problem: Problem::Unusable(error) }
    })
}
