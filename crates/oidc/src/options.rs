//! The options of the client: which provider, and who this program is there.

use std::fmt;
use std::time::Duration;

use signpost_domain::Issuer;
use signpost_https_client::{TrustRoots, TrustRootsError};

/// The options of an [`OidcProvider`](crate::OidcProvider).
#[derive(Debug, Clone)]
pub struct OidcOptions {
    /// The provider.
    pub issuer: Issuer,
    /// The name that this program has there.
    pub client_id: String,
    /// What this program proves itself with.
    pub client_secret: ClientSecret,
    /// Where the provider sends browsers back to. It must be registered there in exactly this form.
    pub redirect_uri: String,
    /// Whom to trust to vouch for the provider's server.
    pub roots: TrustRoots,
    /// The time limit of one request. A call makes up to four.
    pub time_limit: Duration,
}

/// The secret of this program at the provider. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecret(String);

impl ClientSecret {
    /// A secret.
    #[must_use]
    pub const fn new(secret: String) -> Self {
        Self(secret)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecret(…)")
    }
}

/// Why the options are unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OidcOptionsError {
    /// There are no root certificates for the provider's server.
    #[error(transparent)]
    Roots(#[from] TrustRootsError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d77_the_secret_is_not_in_debug_texts() {
        assert_eq!(format!("{:?}", ClientSecret::new("hush".to_owned())), "ClientSecret(…)");
    }
}
