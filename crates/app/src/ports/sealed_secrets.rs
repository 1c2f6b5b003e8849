//! Sealing the secrets of the store again, under a new secrets key (D192).

use async_trait::async_trait;
use signpost_domain::{Hostname, SealedSecret, UserId};

use super::certificates::StoredAuthorityAccount;
use super::store_error::StoreError;

/// Replacing the sealed form of secrets that stay what they are. Each call is a unit of work of its own.
///
/// None of these is a visible change, because nodes that know both keys open either form.
#[async_trait]
pub trait SealedSecrets: Send + Sync {
    /// The installation's accounts at all authorities, with the URLs of their directories. There are few.
    async fn authority_accounts(&self) -> Result<Vec<(String, StoredAuthorityAccount)>, StoreError>;

    /// Replaces the sealed credentials of the account at an authority. `false` if they are no longer `from`.
    async fn reseal_account(
        &self,
        directory: &str,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError>;

    /// Replaces the sealed key of a served certificate. `false` if it is no longer `from`. The key of a running order is never
    /// replaced, because the node that works on the order may write it at the same time.
    async fn reseal_certificate(
        &self,
        hostname: &Hostname,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError>;

    /// Replaces the sealed seed of a user's second factor. `false` if it is no longer `from`.
    async fn reseal_second_factor(
        &self,
        user: UserId,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError>;
}
