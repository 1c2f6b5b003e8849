//! Sealing secrets again.

use async_trait::async_trait;
use signpost_app::ports::{SealedSecrets, StoreError, StoredAuthorityAccount};
use signpost_domain::{Hostname, SealedSecret, UserId};

use crate::store::MemoryStore;

/// Replaces a secret that is still `from`.
fn replace(stored: Option<&mut SealedSecret>, from: &SealedSecret, to: &SealedSecret) -> bool {
    let Some(secret) = stored.filter(|secret| *secret == from) else { return false };
    secret.clone_from(to);
    true
}

#[async_trait]
impl SealedSecrets for MemoryStore {
    async fn authority_accounts(&self) -> Result<Vec<(String, StoredAuthorityAccount)>, StoreError> {
        self.read(|state| {
            let all = state.certificates.accounts();
            all.iter().map(|(directory, account)| (directory.clone(), account.clone())).collect()
        })
    }

    async fn reseal_account(
        &self,
        directory: &str,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        self.write_at_once(|state| replace(state.certificates.credentials_mut(directory), from, to)).await
    }

    async fn reseal_certificate(
        &self,
        hostname: &Hostname,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        self.write_at_once(|state| replace(state.certificates.sealed_key_mut(hostname), from, to)).await
    }

    async fn reseal_second_factor(
        &self,
        user: UserId,
        from: &SealedSecret,
        to: &SealedSecret,
    ) -> Result<bool, StoreError> {
        self.write_at_once(|state| {
            let factor = state.people.user_mut(user).and_then(|user| user.second_factor.as_mut());
            replace(factor.map(|factor| &mut factor.seed), from, to)
        })
        .await
    }
}
