//! Accounts and their keys in the store.

use async_trait::async_trait;
use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Email, KeyHash, Link, LinkId, Name, Page, PageLimit, PagePosition,
    PlanName, Timestamp, Usage,
};

use super::store_error::StoreError;

/// An API key with its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    /// The record of the key, which may be revoked.
    pub key: ApiKey,
    /// The account.
    pub account: Account,
    /// The account's usage of its plan's limits.
    pub usage: Usage,
}

/// Reading accounts and keys.
#[async_trait]
pub trait AccountReads: Send + Sync {
    /// The key with this hash and its account, in one round trip. Every request to the API begins with this call. The key may
    /// be revoked or expired. A store with a clock of its own leaves out a key that has expired by it, so that a node whose
    /// clock is behind accepts none (D80).
    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StoreError>;

    /// As [`Self::key_holder`], with the account's link with this id in the same round trip. The page content
    /// of a landing need not be read. The link is `None` if the account has no such link, or if it cannot be
    /// read. A use case that needs the link then reads it again and gets the error.
    async fn key_holder_with_link(
        &self,
        hash: &KeyHash,
        link: LinkId,
    ) -> Result<(Option<KeyHolder>, Option<Link>), StoreError>;

    /// The account with this id.
    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError>;

    /// The accounts with these ids, at most a hundred, in no order. Unknown ids and unreadable accounts are left out.
    async fn accounts_with_ids(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError>;

    /// The account with this contact address, compared without case. There is at most one.
    async fn account_with_email(&self, email: &Email) -> Result<Option<Account>, StoreError>;

    /// The account's usage of its plan's limits.
    async fn usage(&self, id: AccountId) -> Result<Option<Usage>, StoreError>;

    /// The usage of each of these accounts, at most a hundred, in no order. Unknown ids and unreadable accounts are left
    /// out.
    async fn usage_of_each(&self, ids: &[AccountId]) -> Result<Vec<(AccountId, Usage)>, StoreError>;

    /// One page of all accounts, newest (highest id) first.
    async fn accounts(
        &self,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Account>, StoreError>;

    /// The plans that accounts have, each with the number of its accounts, sorted by name. It reads every account, so it is
    /// only for the start of the program and for operators.
    async fn plans_in_use(&self) -> Result<Vec<(PlanName, u64)>, StoreError>;

    /// The keys of an account, including revoked ones, newest first.
    async fn keys(&self, account: AccountId) -> Result<Vec<ApiKey>, StoreError>;
}

/// Why an account was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteAccountError {
    /// A decision: another account has this contact address, compared without case.
    #[error("an account has this contact address already")]
    EmailTaken,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changing accounts and keys, within a unit of work.
#[async_trait]
pub trait AccountWrites: Send {
    /// Whether any account exists. Until this unit of work ends, no other one can insert the first account.
    async fn any_account(&mut self) -> Result<bool, StoreError>;

    /// Inserts an account.
    async fn insert_account(&mut self, account: &Account) -> Result<(), WriteAccountError>;

    /// Sets the plan of an account, for every request that starts after the commit. `false` if the account does not exist.
    async fn set_plan(&mut self, id: AccountId, plan: &PlanName) -> Result<bool, StoreError>;

    /// Gives an account another contact address and another name. `false` if the account does not exist.
    ///
    /// # Errors
    /// [`WriteAccountError::EmailTaken`].
    async fn rename_account(
        &mut self,
        id: AccountId,
        email: &Email,
        name: Option<&Name>,
    ) -> Result<bool, WriteAccountError>;

    /// Sets whether the members of an account need a second factor, for every request that starts after the commit. `false` if
    /// the account does not exist.
    async fn require_second_factor(&mut self, id: AccountId, is_required: bool) -> Result<bool, StoreError>;

    /// Suspends an account since an instant, or resumes it with `None`. A suspended account keeps its first instant. `false`
    /// if the account does not exist.
    async fn set_suspended(&mut self, id: AccountId, since: Option<Timestamp>) -> Result<bool, StoreError>;

    /// Deletes an account with all its data, such as its keys, its links, its tags, its memberships and tickets, remembered answers and
    /// counts. Its members and its audit stay. `false` if the account does not exist.
    async fn delete_account(&mut self, id: AccountId) -> Result<bool, StoreError>;

    /// Inserts a key. `false` if its account does not exist.
    async fn insert_key(&mut self, key: &ApiKey) -> Result<bool, StoreError>;

    /// Revokes a key permanently. A revoked key keeps its first instant. Returns the revoked key; `None` if it does not
    /// exist.
    async fn revoke_key(&mut self, id: ApiKeyId, at: Timestamp) -> Result<Option<ApiKey>, StoreError>;
}
