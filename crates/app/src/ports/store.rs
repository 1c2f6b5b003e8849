//! The store as a whole: what can be read at any time, and the unit of work in which it is changed.

use std::time::Instant;

use async_trait::async_trait;
use signpost_domain::AccountId;

use super::accounts::{AccountReads, AccountWrites};
use super::change_log::{ChangeLog, VisibleChange};
use super::custom_domains::{CustomDomainReads, CustomDomainWrites, DomainChecks};
use super::groups::{GroupReads, GroupWrites};
use super::leases::Leases;
use super::links::{LinkReads, LinkWrites};
use super::pixels::{PixelReads, PixelWrites};
use super::remembered_answers::{AnswerReads, AnswerWrites};
use super::store_error::StoreError;

/// Everything that is kept. The methods of its parts read, each in one round trip and without a transaction,
/// and cannot write; changes go through a [`UnitOfWork`]. What the program keeps for itself, the age of its change log,
/// its leases and the plans of its checks, is written by methods of their own, each a unit of work by itself.
///
/// A row that cannot be read fails the calls that name it, with [`StoreError::Corrupt`]. A list goes on without it, says how many
/// it left out, and logs the id of each; deleting links does not read them (ADR 35).
///
/// Every call returns within the store's time limit (D6), with [`StoreError::Unavailable`] if it must.
#[async_trait]
pub trait Store:
    AccountReads
    + AnswerReads
    + ChangeLog
    + CustomDomainReads
    + DomainChecks
    + GroupReads
    + Leases
    + LinkReads
    + PixelReads
{
    /// Begins a unit of work.
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError>;

    /// Begins a unit of work that the store has asked to run again ([`StoreError::Contended`]). Its time limit counts from
    /// `first_begun`, when it was begun for the first time, so that running it several times takes no longer than once.
    /// [`StoreError::Unavailable`] if that time is over.
    async fn begin_again(&self, first_begun: Instant) -> Result<Box<dyn UnitOfWork>, StoreError>;

    /// Whether the store answers at all, for health checks.
    async fn check(&self) -> Result<(), StoreError>;

    /// Whether the store takes changes, for health checks. [`StoreError::Unwritable`] if its disk is full or it is
    /// read-only. A store whose [`check`](Self::check) includes this keeps the default.
    async fn check_writes(&self) -> Result<(), StoreError> {
        self.check().await
    }

    /// Does a bounded step of writing the index of searches, for the accounts behind `after`. Searches find the same with it
    /// and without. A store whose index is complete at any time keeps the default, which does nothing.
    async fn tend_search_index(&self, after: Option<AccountId>) -> Result<SearchUpkeep, StoreError> {
        let _ = after;
        Ok(SearchUpkeep { after: None, has_worked: false })
    }
}

/// What a step of writing the index of searches came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchUpkeep {
    /// Behind which account the next step begins; `None` if no account is left, so that the next one begins anew.
    pub after: Option<AccountId>,
    /// Whether there was anything to be done.
    pub has_worked: bool,
}

/// Changes that stand or fall together.
///
/// It is committed by value, and undone when it is dropped without that, also when the task that owns it is
/// cancelled. Until it is committed, nobody else sees its changes. One that is neither committed nor dropped
/// within the store's time limit is undone by the store.
///
/// An error that a method's documentation calls a decision ([`UpdateLinkError::AddressTaken`] and the like) leaves
/// the unit of work usable, with the effects of that one call undone. After a [`StoreError`] only dropping it is of
/// use.
///
/// [`UpdateLinkError::AddressTaken`]: super::UpdateLinkError::AddressTaken
#[async_trait]
pub trait UnitOfWork:
    AccountWrites + AnswerWrites + CustomDomainWrites + GroupWrites + LinkWrites + PixelWrites
{
    /// The changes that visitors can see which were made so far, as [`commit`](Self::commit) will write them into the
    /// [`ChangeLog`].
    fn changes(&self) -> Vec<VisibleChange>;

    /// Makes the changes last: once this returns `Ok`, they survive a crash of the process or the machine. After
    /// [`StoreError::Unavailable`] either all of them were made or none.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
