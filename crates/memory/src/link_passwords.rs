//! The hashes of the passwords of links.

use async_trait::async_trait;
use signpost_app::ports::{LinkPasswordReads, LinkPasswordWrites, StoreError};
use signpost_domain::{AccountId, LinkId, PasswordHash};

use crate::state::{absent, no_account};
use crate::store::MemoryStore;
use crate::unit_of_work::MemoryUnitOfWork;

#[async_trait]
impl LinkPasswordReads for MemoryStore {
    async fn link_password(
        &self,
        account: AccountId,
        link: LinkId,
    ) -> Result<Option<PasswordHash>, StoreError> {
        self.read(|state| state.owned(account)?.password_of(link))?.transpose()
    }
}

#[async_trait]
impl LinkPasswordWrites for MemoryUnitOfWork {
    async fn write_link_passwords(
        &mut self,
        account: AccountId,
        passwords: &[(LinkId, Option<PasswordHash>)],
    ) -> Result<(), StoreError> {
        self.write(|state| {
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            for (link, hash) in passwords {
                owned.write_password(*link, hash.clone()).ok_or_else(|| absent(*link))?;
            }
            Ok(())
        })
    }
}
