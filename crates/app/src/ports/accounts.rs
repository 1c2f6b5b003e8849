//! Accounts and their keys in the store.

use async_trait::async_trait;
use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Email, KeyHash, Link, LinkId, Page, PageLimit, PagePosition,
    PlanName, Timestamp, Usage,
};

use super::store_error::StoreError;

/// An API key with the account it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    /// The key's record, revoked or not.
    pub key: ApiKey,
    /// The account.
    pub account: Account,
    /// How much the account has of what plans limit.
    pub usage: Usage,
}

/// Reading accounts and keys.
#[async_trait]
pub trait AccountReads: Send + Sync {
    /// The key with this hash and its account, in one round trip: every request to the API begins with it.
    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StoreError>;

    /// As [`Self::key_holder`], and in the same round trip the link with this id, whose content a landing page may lack. `None`
    /// if the key's account has no such link, or if the link cannot be read: who needs it asks again and learns why.
    async fn key_holder_with_link(
        &self,
        hash: &KeyHash,
        link: LinkId,
    ) -> Result<(Option<KeyHolder>, Option<Link>), StoreError>;

    /// The account with this id.
    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError>;

    /// The account whose owner has this address, without regard to case: there is one at most.
    async fn account_with_email(&self, email: &Email) -> Result<Option<Account>, StoreError>;

    /// How much the account has of what plans limit.
    async fn usage(&self, id: AccountId) -> Result<Option<Usage>, StoreError>;

    /// One page of all accounts, newest (highest id) first.
    async fn accounts(
        &self,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Account>, StoreError>;

    /// The plans that accounts have, each with the number of its accounts, in the order of their names. The statement
    /// reads every account, so it is for starts and operators.
    async fn plans_in_use(&self) -> Result<Vec<(PlanName, u64)>, StoreError>;

    /// The keys of an account, revoked ones included, newest first.
    async fn keys(&self, account: AccountId) -> Result<Vec<ApiKey>, StoreError>;
}

/// Why an account was not inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertAccountError {
    /// A decision: an account has this address already, without regard to case.
    #[error("an account has this e-mail address already")]
    EmailTaken,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changing accounts and keys, within a unit of work.
#[async_trait]
pub trait AccountWrites: Send {
    /// Whether there is any account. No other unit of work can add the first one until this one ends.
    async fn any_account(&mut self) -> Result<bool, StoreError>;

    /// Inserts an account.
    async fn insert_account(&mut self, account: &Account) -> Result<(), InsertAccountError>;

    /// Puts an account on a plan; it holds for every request that starts after the commit. `false` if there is
    /// no such account.
    async fn set_plan(&mut self, id: AccountId, plan: &PlanName) -> Result<bool, StoreError>;

    /// Suspends an account since an instant, or resumes it with `None`. Suspending a suspended account keeps
    /// the first instant. `false` if there is no such account.
    async fn set_suspended(&mut self, id: AccountId, since: Option<Timestamp>) -> Result<bool, StoreError>;

    /// Deletes an account with all its data: keys, links, groups, pixels, remembered answers, counts. `false` if there is no such account.
    async fn delete_account(&mut self, id: AccountId) -> Result<bool, StoreError>;

    /// Inserts a key. `false` if there is no such account.
    async fn insert_key(&mut self, key: &ApiKey) -> Result<bool, StoreError>;

    /// Revokes a key for good; a key revoked before keeps its first instant. Returns the key as it is then; `None` if
    /// there is no such key.
    async fn revoke_key(&mut self, id: ApiKeyId, at: Timestamp) -> Result<Option<ApiKey>, StoreError>;
}
