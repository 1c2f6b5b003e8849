//! Links in the store.

use async_trait::async_trait;
use signpost_domain::{
    AccountId, Address, LinkFilter, Page, PageLimit, PagePosition, Redirect, RedirectId, TargetUrl,
};

use super::store_error::StoreError;

/// A link as the visitor's side sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedLink {
    /// Where it leads.
    pub target_url: TargetUrl,
    /// Whether the link is active.
    pub is_active: bool,
    /// Whether the account that owns it is suspended.
    pub is_suspended: bool,
}

/// Reading links.
#[async_trait]
pub trait LinkReads: Send + Sync {
    /// The account's redirect with this id.
    async fn redirect(&self, account: AccountId, id: RedirectId) -> Result<Option<Redirect>, StoreError>;

    /// One page of the account's redirects that pass `filter`, newest (highest id) first, beginning behind
    /// `after`. The cost of a page must not grow with its depth nor with the number of links behind it.
    async fn redirects(
        &self,
        account: AccountId,
        filter: &LinkFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Redirect>, StoreError>;

    /// The link that occupies `address`, whoever owns it, active or not.
    async fn published_link(&self, address: &Address) -> Result<Option<PublishedLink>, StoreError>;
}

/// Why a redirect was not inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertRedirectError {
    /// A decision: another link occupies the address.
    #[error("the address is taken")]
    AddressTaken,
    /// A decision: the account has as many links as its plan allows.
    #[error("the limit on links is reached")]
    LimitReached,
    /// A decision: the account has no such group.
    #[error("no such group")]
    GroupMissing,
    /// A decision: the account was deleted after the request was let in.
    #[error("no such account")]
    AccountMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a redirect was not updated.
#[derive(Debug, thiserror::Error)]
pub enum UpdateRedirectError {
    /// A decision: another link occupies the new address.
    #[error("the address is taken")]
    AddressTaken,
    /// A decision: the account has no such group.
    #[error("no such group")]
    GroupMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changing links, within a unit of work.
#[async_trait]
pub trait LinkWrites: Send {
    /// The account's redirect with this id, held against other units of work until this one ends, so that what
    /// is decided from it still holds when it is written.
    async fn lock_redirect(
        &mut self,
        account: AccountId,
        id: RedirectId,
    ) -> Result<Option<Redirect>, StoreError>;

    /// Inserts a redirect and moves the account's count of links and its group's count of redirects.
    ///
    /// The store decides, under any concurrency: the count of links never passes `links_limit`, an address
    /// names at most one link (D20), and the group is one of the account's. Where several decisions apply, it
    /// reports the first of `GroupMissing`, `AccountMissing`, `LimitReached`, `AddressTaken`.
    async fn insert_redirect(
        &mut self,
        account: AccountId,
        redirect: &Redirect,
        links_limit: u64,
    ) -> Result<(), InsertRedirectError>;

    /// Writes `after` over `before`, the state that [`LinkWrites::lock_redirect`] gave in this unit of work,
    /// and moves the counts of the groups that it leaves and enters. Where both decisions apply, it reports
    /// `GroupMissing`.
    async fn update_redirect(
        &mut self,
        account: AccountId,
        before: &Redirect,
        after: &Redirect,
    ) -> Result<(), UpdateRedirectError>;

    /// Deletes a redirect, frees its address, and moves the account's and its group's counts. `false` if the
    /// account has no such redirect.
    async fn delete_redirect(&mut self, account: AccountId, id: RedirectId) -> Result<bool, StoreError>;

    /// Deletes some of the account's links, of any kind, at most `at_most`; frees their addresses and moves the
    /// account's and their groups' counts. Returns how many it deleted, which is fewer than `at_most` only if none
    /// is left. Its cost is bounded by `at_most`, so that an account of any size can be deleted bit by bit.
    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError>;
}
