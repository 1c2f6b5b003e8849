//! The store as a whole: reads at any time, and changes in a unit of work.

use std::time::Instant;

use async_trait::async_trait;
use signpost_domain::AccountId;

use super::accounts::{AccountReads, AccountWrites};
use super::certificates::{CertificateReads, CertificateWork, CertificateWrites};
use super::change_log::{ChangeLog, VisibleChange};
use super::click_credits::ClickCredits;
use super::custom_domains::{CustomDomainReads, CustomDomainWrites, DomainChecks};
use super::groups::{GroupReads, GroupWrites};
use super::identities::{IdentityReads, IdentityWrites};
use super::leases::Leases;
use super::link_passwords::{LinkPasswordReads, LinkPasswordWrites};
use super::links::{LinkReads, LinkWrites};
use super::people::{PeopleReads, PeopleUpkeep, PeopleWrites};
use super::pixels::{PixelReads, PixelWrites};
use super::remembered_answers::{AnswerReads, AnswerWrites};
use super::sealed_secrets::SealedSecrets;
use super::store_error::StoreError;
use super::tags::{TagReads, TagWrites};

/// Stores everything except clicks and counted requests.
///
/// The read methods of its parts take one round trip each, without a transaction, and cannot write. Changes
/// go through a [`UnitOfWork`]. Upkeep (the change log, leases, remembered answers, the plans of checks) has
/// write methods here. Each call of them is a unit of work of its own.
///
/// A call that names an unreadable row fails with [`StoreError::Corrupt`]. A list leaves such a row out, reports how many it
/// left out, and logs their ids. Deleting links does not read them (ADR 35).
///
/// Every call returns within the store's time limit (D6), if necessary with [`StoreError::Unavailable`].
#[async_trait]
pub trait Store:
    AccountReads
    + AnswerReads
    + CertificateReads
    + CertificateWork
    + ChangeLog
    + CustomDomainReads
    + DomainChecks
    + GroupReads
    + IdentityReads
    + Leases
    + LinkPasswordReads
    + LinkReads
    + PeopleReads
    + PeopleUpkeep
    + PixelReads
    + SealedSecrets
    + TagReads
{
    /// Begins a unit of work.
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError>;

    /// Begins a unit of work again after [`StoreError::Contended`]. The time limit counts from `first_begun`, when it began
    /// for the first time, so that all attempts together take no longer than one. [`StoreError::Unavailable`] if the time is
    /// over.
    async fn begin_again(&self, first_begun: Instant) -> Result<Box<dyn UnitOfWork>, StoreError>;

    /// Checks for health checks that the store answers.
    async fn check(&self) -> Result<(), StoreError>;

    /// Checks for health checks that the store accepts changes. [`StoreError::Unwritable`] if its disk is full or it is
    /// read-only. A store whose [`check`](Self::check) covers this keeps the default.
    async fn check_writes(&self) -> Result<(), StoreError> {
        self.check().await
    }

    /// Does a bounded step of writing the search index, for the accounts after `after`. It does not change what searches
    /// find. A store whose index is always complete keeps the default, which does nothing.
    async fn tend_search_index(&self, after: Option<AccountId>) -> Result<SearchUpkeep, StoreError> {
        let _ = after;
        Ok(SearchUpkeep { after: None, has_worked: false })
    }
}

/// The result of a step of writing the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchUpkeep {
    /// The account after which the next step starts. `None` if no account is left, so that the next step starts a new round.
    pub after: Option<AccountId>,
    /// Whether the step had anything to write.
    pub has_worked: bool,
}

/// Changes that take effect together or not at all.
///
/// [`commit`](Self::commit) consumes it. Dropping it undoes it, also when the task that owns it is cancelled. Its changes are
/// invisible to others until the commit. If it is neither committed nor dropped within the store's time limit, the store
/// undoes it.
///
/// Some errors are decisions, such as [`UpdateLinkError::AddressTaken`]; the docs of the methods say which. A
/// decision undoes only that call, and the unit of work stays usable. After a [`StoreError`] it can only be
/// dropped.
///
/// [`UpdateLinkError::AddressTaken`]: super::UpdateLinkError::AddressTaken
#[async_trait]
pub trait UnitOfWork:
    AccountWrites
    + AnswerWrites
    + CertificateWrites
    + ClickCredits
    + CustomDomainWrites
    + GroupWrites
    + IdentityWrites
    + LinkPasswordWrites
    + LinkWrites
    + PeopleWrites
    + PixelWrites
    + TagWrites
{
    /// The changes so far that visitors can see, as [`commit`](Self::commit) will write them to the [`ChangeLog`].
    fn changes(&self) -> Vec<VisibleChange>;

    /// Makes the changes durable: once this returns `Ok`, they survive a crash of the process or the machine. After
    /// [`StoreError::Unavailable`], either all of them were made or none.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
