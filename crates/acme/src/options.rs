//! The options of the client: which authority, and how to trust it.

use std::fmt;
use std::time::Duration;

use signpost_https_client::{TrustRoots, TrustRootsError};

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
    pub roots: TrustRoots,
    /// The time limit of one request. A call makes several, and ends after three times as long.
    pub time_limit: Duration,
}

impl Default for AcmeOptions {
    fn default() -> Self {
        Self {
            directory: LETS_ENCRYPT.to_owned(),
            profile: None,
            external_account: None,
            roots: TrustRoots::System,
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

/// Why the options are unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcmeOptionsError {
    /// The directory is not an `https` URL with a host.
    #[error("`{0}` is not the https URL of an authority's directory")]
    Directory(String),
    /// There are no root certificates for the authority's own server.
    #[error(transparent)]
    Roots(#[from] TrustRootsError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d180_the_external_key_is_not_in_debug_texts() {
        let external = ExternalAccount { key_id: "kid-1".to_owned(), key: vec![77; 4] };
        assert_eq!(format!("{external:?}"), "ExternalAccount { key_id: \"kid-1\", .. }");
    }
}
