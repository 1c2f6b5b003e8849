//! Changing accounts and keys.

use async_trait::async_trait;
use signpost_app::ports::{AccountWrites, StoreError, WriteAccountError};
use signpost_domain::{Account, AccountId, ApiKey, ApiKeyId, Email, Name, PlanName, Timestamp};

use crate::state::twice;
use crate::unit_of_work::MemoryUnitOfWork;

#[async_trait]
impl AccountWrites for MemoryUnitOfWork {
    async fn any_account(&mut self) -> Result<bool, StoreError> {
        self.write(|state| Ok(state.all().next().is_some()))
    }

    async fn insert_account(&mut self, account: &Account) -> Result<(), WriteAccountError> {
        self.write(|state| {
            let email = account.email.comparison_key();
            if state.all().any(|owned| owned.account.email.comparison_key() == email) {
                return Err(WriteAccountError::EmailTaken);
            }
            Ok(state.insert(account.clone())?)
        })
    }

    async fn set_plan(&mut self, id: AccountId, plan: &PlanName) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(id) else { return Ok(false) };
            owned.account.plan = plan.clone();
            Ok(true)
        })
    }

    async fn rename_account(
        &mut self,
        id: AccountId,
        email: &Email,
        name: Option<&Name>,
    ) -> Result<bool, WriteAccountError> {
        self.write(|state| {
            let key = email.comparison_key();
            let is_other = |account: &Account| account.id != id && account.email.comparison_key() == key;
            if state.all().any(|owned| is_other(&owned.account)) {
                return Err(WriteAccountError::EmailTaken);
            }
            let Some(owned) = state.owned_mut(id) else { return Ok(false) };
            (owned.account.email, owned.account.name) = (email.clone(), name.cloned());
            Ok(true)
        })
    }

    async fn require_second_factor(&mut self, id: AccountId, is_required: bool) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(id) else { return Ok(false) };
            owned.account.requires_second_factor = is_required;
            Ok(true)
        })
    }

    async fn set_suspended(&mut self, id: AccountId, since: Option<Timestamp>) -> Result<bool, StoreError> {
        self.write_noting(|state, changes| {
            let Some(owned) = state.owned_mut(id) else { return Ok(false) };
            changes.note_account(id);
            owned.account.suspended_at = since.map(|since| owned.account.suspended_at.unwrap_or(since));
            Ok(true)
        })
    }

    async fn delete_account(&mut self, id: AccountId) -> Result<bool, StoreError> {
        self.write_noting(|state, changes| {
            let is_removed = state.remove(id);
            if is_removed {
                changes.note_account(id);
            }
            Ok(is_removed)
        })
    }

    async fn insert_key(&mut self, key: &ApiKey) -> Result<bool, StoreError> {
        self.write(|state| {
            if state.holder_of_key(key.id).is_some() {
                return Err(twice(key.id));
            }
            let Some(owned) = state.owned_mut(key.account_id) else { return Ok(false) };
            owned.keys.insert(key.id, key.clone());
            Ok(true)
        })
    }

    async fn revoke_key(&mut self, id: ApiKeyId, at: Timestamp) -> Result<Option<ApiKey>, StoreError> {
        self.write(|state| {
            let holder = state.holder_of_key(id).and_then(|holder| state.owned_mut(holder));
            let Some(key) = holder.and_then(|owned| owned.keys.get_mut(&id)) else { return Ok(None) };
            key.revoked_at.get_or_insert(at);
            Ok(Some(key.clone()))
        })
    }
}
