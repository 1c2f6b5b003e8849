//! Links in the store.

use async_trait::async_trait;
use signpost_domain::{
    AccountId, Address, ExternalId, GroupFilter, LandingId, LandingPage, Link, LinkFilter, LinkId, LinkKind,
    Page, PageContent, PageLimit, PagePosition, Site,
};

use super::published_links::PublishedLink;
use super::store_error::StoreError;

/// Reading links. Each is read with the state of its domain ([`Link::is_domain_active`]), which is not written with it: false if
/// the account has a custom domain of this hostname that is not stored as active. A redirect is read with what is taken of its limit
/// of clicks, which only its insertion and [`ClickCredits`](super::ClickCredits) write.
#[async_trait]
pub trait LinkReads: Send + Sync {
    /// The account's link with this id. An id of another kind does not find it.
    async fn link(&self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError>;

    /// The account's links with these ids, in any order. An unreadable row fails the call.
    async fn links_with_ids(&self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError>;

    /// Those of `addresses` that a link of any account occupies, each once and in any order. The account's
    /// own link is returned with its id. Other transactions can change the answer at any time, so only an
    /// insertion decides.
    async fn occupied(
        &self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError>;

    /// Those of `ids` that a link of any account has, of whichever kind, each once and in any order. Other transactions can change
    /// the answer at any time, so only an insertion decides.
    async fn taken_link_ids(&self, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError>;

    /// The account's links of both kinds that have one of these external ids, each with it, in any order.
    async fn links_with_external_ids(
        &self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError>;

    /// The account's landing page with this id and its content, both as of one moment.
    async fn landing_page(
        &self,
        account: AccountId,
        id: LandingId,
    ) -> Result<Option<LandingPage>, StoreError>;

    /// One page of the account's links of one kind that match `filter`, newest (highest id) first, starting after `after`.
    /// The cost must not grow with the depth of the page or the number of links after it.
    async fn links(
        &self,
        account: AccountId,
        kind: LinkKind,
        filter: &LinkFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Link>, StoreError>;

    /// The ids of the account's links of both kinds that match `group` and `site`, as of one moment, in any order, at most
    /// `at_most`. Unreadable rows are included.
    async fn link_ids(
        &self,
        account: AccountId,
        group: GroupFilter,
        site: Option<&Site>,
        at_most: usize,
    ) -> Result<Vec<LinkId>, StoreError>;

    /// The link of any account at `address`, active or not. On a custom domain, the domain must belong to the same account
    /// and be stored as active (D44).
    ///
    /// The whole answer is as of one moment. Every change that affects it is noted as a
    /// [`VisibleChange`](super::VisibleChange). An unreadable row fails only the call for its own link, even if several
    /// calls run at the same time (ADR 35).
    async fn published_link(&self, address: &Address) -> Result<Option<PublishedLink>, StoreError>;
}

/// Whether a link was inserted, or the decision against it. If several decisions apply, it is the first in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertion {
    /// The account does not have the link's group.
    GroupMissing,
    /// The account has as many links as its plan allows.
    LimitReached,
    /// Another link of the account has the external id (D121), or an earlier link of the same call names it.
    ExternalIdTaken,
    /// Another link, of any account, has the id, and another address. A store may answer [`AddressTaken`](Self::AddressTaken) if a third link
    /// occupies the address.
    IdTaken,
    /// Another link occupies the address.
    AddressTaken,
    /// The link was inserted.
    Done,
}

/// Why no link of the call was inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertLinksError {
    /// A decision: the account was deleted after the request was admitted.
    #[error("no such account")]
    AccountMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a link was not updated, or none of several.
#[derive(Debug, thiserror::Error)]
pub enum UpdateLinkError {
    /// A decision: another link occupies the new address.
    #[error("the address is taken")]
    AddressTaken,
    /// A decision: another link of the account has the new external id (D121).
    #[error("the external id is taken")]
    ExternalIdTaken,
    /// A decision: the account has no such group.
    #[error("no such group")]
    GroupMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changing links, within a unit of work. The methods for several links take at most the size of a
/// [`Batch`](signpost_domain::Batch), but [`LinkWrites::lock_links`] and [`LinkWrites::update_links`] take
/// [`PageLimit::OF_UNIT_OF_WORK`] links (D124). Their number of statements does not depend on the number of links (D30). A
/// repeated id counts once.
#[async_trait]
pub trait LinkWrites: Send {
    /// Announces that the link which is locked next will leave or enter a group. A store that runs several units of work at
    /// the same time then keeps the others from moving links of the account. Otherwise two of them may deadlock.
    fn expect_move(&mut self) {}

    /// The account's link with this id, locked until this unit of work ends, so that decisions based on it still hold when
    /// it is written.
    async fn lock_link(&mut self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError>;

    /// The account's links among `ids`, in any order, each locked and read as [`LinkWrites::lock_link`] does. All units of work lock
    /// several links in the same order, so that two of them do not deadlock.
    async fn lock_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError>;

    /// Inserts links of any kinds as if one after another, and updates the account's count of links and the counts of their
    /// groups. The answer has the outcome for each link, in the same order. A link that was not inserted leaves no trace.
    ///
    /// A link gets those of its tags that the account has; they were [provided](super::TagWrites::provide_tags) in this unit of work. It
    /// shows them as the account spells them.
    ///
    /// The store enforces four rules under any concurrency. The count of links never exceeds `links_limit`.
    /// An address has at most one link (D20), also within one call. So does an external id among the links of an account
    /// (D121). A group belongs to the account. The id of a stored link is a decision
    /// ([`Insertion::IdTaken`]), whereas two links of one call with one id are a failure.
    async fn insert_links(
        &mut self,
        account: AccountId,
        links: &[Link],
        links_limit: u64,
    ) -> Result<Vec<Insertion>, InsertLinksError>;

    /// Replaces `before`, which [`LinkWrites::lock_link`] returned in this unit of work, with `after`, and updates the counts
    /// of the groups that the link leaves and enters. Changed tags are written as [`LinkWrites::insert_links`] does. What is taken of a
    /// limit of clicks stays, unless `after` begins [another count](signpost_domain::ClickLimit::since). Both have the same id, and so
    /// the same kind. If several decisions apply,
    /// it reports `GroupMissing`, or else any of them.
    async fn update_link(
        &mut self,
        account: AccountId,
        before: &Link,
        after: &Link,
    ) -> Result<(), UpdateLinkError> {
        self.update_links(account, &[(before, after)]).await
    }

    /// Replaces several links that [`LinkWrites::lock_link`] or [`LinkWrites::lock_links`] returned in this unit of work, each as
    /// [`LinkWrites::update_link`] does: all of them or, after a decision, none. No link is named twice.
    ///
    /// No link may take an address or an external id that another link of the call has before the call. Whether that is a
    /// decision depends on the order in which the store writes the links.
    async fn update_links(
        &mut self,
        account: AccountId,
        changes: &[(&Link, &Link)],
    ) -> Result<(), UpdateLinkError>;

    /// As [`LinkReads::occupied`], on the connection of the unit of work. It locks nothing.
    async fn occupied(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError>;

    /// The account's links at `addresses`, each with its address, in any order. After the store has decided that addresses
    /// are taken, this only names the links that occupy them (D20). A link that is gone by then is missing.
    async fn links_at(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, LinkId)>, StoreError>;

    /// The account's links of both kinds that have one of these external ids, each with it, in any order. After the store has
    /// decided that external ids are taken, this only names the links that have them. A link that is gone by then is missing.
    async fn links_with_external_ids(
        &mut self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError>;

    /// The content of a landing page that [`LinkWrites::lock_link`] returned in this unit of work.
    async fn page_content(&mut self, account: AccountId, id: LandingId) -> Result<PageContent, StoreError> {
        let contents = self.page_contents(account, &[id]).await?;
        let content = contents.into_iter().map(|(_, content)| content).next();
        content.ok_or_else(|| StoreError::unavailable(format!("the store left out the landing page {id}")))
    }

    /// The contents of landing pages that this unit of work has locked, each with its page, in any order. A page that the account
    /// does not have is a failure.
    async fn page_contents(
        &mut self,
        account: AccountId,
        ids: &[LandingId],
    ) -> Result<Vec<(LandingId, PageContent)>, StoreError>;

    /// Writes the content of a landing page that [`LinkWrites::lock_link`] returned in this unit of work, or that this unit of
    /// work inserted. A new page is empty until then.
    async fn write_page_content(
        &mut self,
        account: AccountId,
        id: LandingId,
        content: &PageContent,
    ) -> Result<(), StoreError> {
        self.write_page_contents(account, &[(id, content)]).await
    }

    /// Writes the contents of several landing pages, as [`LinkWrites::write_page_content`] does. No page is named twice.
    async fn write_page_contents(
        &mut self,
        account: AccountId,
        pages: &[(LandingId, &PageContent)],
    ) -> Result<(), StoreError>;

    /// Deletes the account's links among `ids`, frees their addresses, and updates the counts of the account and the groups.
    /// Returns the ids of the deleted links, in any order.
    async fn delete_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError>;

    /// Deletes up to `at_most` of the account's links of any kind, frees their addresses, and updates the counts of the
    /// account and the groups. Returns how many it deleted: fewer than `at_most` only if none is left. `at_most` bounds the
    /// cost, so that an account of any size can be deleted in steps.
    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError>;
}
