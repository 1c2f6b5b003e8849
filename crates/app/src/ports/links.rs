//! Links in the store.

use async_trait::async_trait;
use signpost_domain::{
    AccountId, Address, GroupFilter, LandingId, LandingPage, Link, LinkFilter, LinkId, LinkKind, Page,
    PageContent, PageLimit, PagePosition, Site,
};

use super::published_links::PublishedLink;
use super::store_error::StoreError;

/// Reading links.
#[async_trait]
pub trait LinkReads: Send + Sync {
    /// The account's link with this id. A link is found by an id of its own kind only.
    async fn link(&self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError>;

    /// The account's links with these ids, in any order. A row that cannot be read fails the call.
    async fn links_with_ids(&self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError>;

    /// Those of `addresses` that a link occupies, whoever owns it, each once and in any order. The account's own links are
    /// named by their ids. Other transactions can change the answer at once, so only the store's insertion decides.
    async fn occupied(
        &self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError>;

    /// The account's landing page with this id and what is on it, both as they were at one moment.
    async fn landing_page(
        &self,
        account: AccountId,
        id: LandingId,
    ) -> Result<Option<LandingPage>, StoreError>;

    /// One page of the account's links of one kind that pass `filter`, newest (highest id) first, beginning behind
    /// `after`. The cost of a page must not grow with its depth nor with the number of links behind it.
    async fn links(
        &self,
        account: AccountId,
        kind: LinkKind,
        filter: &LinkFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Link>, StoreError>;

    /// The ids of the account's links of both kinds that are in a group and live on a site, in any order, as they are at one
    /// moment: at most so many of them. Rows that cannot be read otherwise are among them.
    async fn link_ids(
        &self,
        account: AccountId,
        group: GroupFilter,
        site: Option<&Site>,
        at_most: usize,
    ) -> Result<Vec<LinkId>, StoreError>;

    /// The link that occupies `address`, whoever owns it, active or not. On a custom domain only if that domain is the same
    /// account's and stored as active (D44). The link and everything in the answer are as they were at one moment, and
    /// whatever changes the answer is noted as a [`VisibleChange`](super::VisibleChange). A row that cannot be read fails
    /// no other link, even one that is asked for at the same time (ADR 35).
    async fn published_link(&self, address: &Address) -> Result<Option<PublishedLink>, StoreError>;
}

/// Whether a link was inserted, or the decision that kept it out. Where several apply it is the first of them in the
/// order in which they stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertion {
    /// The account has no group of the id that the link names.
    GroupMissing,
    /// The account has as many links as its plan allows.
    LimitReached,
    /// Another link occupies the address.
    AddressTaken,
    /// It was inserted.
    Done,
}

/// Why no link at all was inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertLinksError {
    /// A decision: the account was deleted after the request was let in.
    #[error("no such account")]
    AccountMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a link was not updated.
#[derive(Debug, thiserror::Error)]
pub enum UpdateLinkError {
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

/// Changing links, within a unit of work. The methods that take several links at once take as many as a
/// [`Batch`](signpost_domain::Batch) has, and cost the same handful of statements for all as for one (D30). An id that is
/// named twice is meant once.
#[async_trait]
pub trait LinkWrites: Send {
    /// Says that the link which is locked next is going to leave its group, or to enter one. A store in which several units
    /// of work run at once lets no other one move links of the account then; otherwise two may wait for each other.
    fn expect_move(&mut self) {}

    /// The account's link with this id, held against other units of work until this one ends, so that what is
    /// decided from it still holds when it is written.
    async fn lock_link(&mut self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError>;

    /// Inserts links of any kinds, as if one after another in their order, each unless something stands against it, and
    /// moves the account's count of links and the counts of their groups. The answer says of each link, in the same
    /// order, what became of it; those that were not inserted leave no trace.
    ///
    /// The store decides, under any concurrency: the count of links never passes `links_limit`, an address
    /// names at most one link (D20), also within one call, and a group is one of the account's. An id that is there
    /// already is no decision but a failure.
    async fn insert_links(
        &mut self,
        account: AccountId,
        links: &[Link],
        links_limit: u64,
    ) -> Result<Vec<Insertion>, InsertLinksError>;

    /// Writes `after` over `before`, the state that [`LinkWrites::lock_link`] gave in this unit of work,
    /// and moves the counts of the groups that it leaves and enters. Both have the same id, and so the same kind.
    /// Where both decisions apply, it reports `GroupMissing`.
    async fn update_link(
        &mut self,
        account: AccountId,
        before: &Link,
        after: &Link,
    ) -> Result<(), UpdateLinkError>;

    /// Those of the account's links that occupy one of `addresses`, each with its address, in any order. It is asked after
    /// the store has decided that addresses are taken, to say by which links (D20), and never to decide anything: what it
    /// names may be gone by then, and then it is not among them.
    async fn links_at(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, LinkId)>, StoreError>;

    /// What is on a landing page that [`LinkWrites::lock_link`] gave in this unit of work.
    async fn page_content(&mut self, account: AccountId, id: LandingId) -> Result<PageContent, StoreError>;

    /// Writes what is on a landing page that [`LinkWrites::lock_link`] gave in this unit of work, or that it inserted; until
    /// then there is nothing on it.
    async fn write_page_content(
        &mut self,
        account: AccountId,
        id: LandingId,
        content: &PageContent,
    ) -> Result<(), StoreError>;

    /// Deletes those of `ids` that the account has, frees their addresses, and moves the account's and their groups'
    /// counts. Returns the ids of the links that it deleted, in any order.
    async fn delete_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError>;

    /// Deletes some of the account's links, of any kind, at most `at_most`; frees their addresses and moves the
    /// account's and their groups' counts. Returns how many it deleted, which is fewer than `at_most` only if none
    /// is left. Its cost is bounded by `at_most`, so that an account of any size can be deleted bit by bit.
    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError>;
}
