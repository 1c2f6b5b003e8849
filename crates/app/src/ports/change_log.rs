//! The change log. From it each node learns of changes on the other nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::{AccountId, Address, Hostname, Link};

use super::store_error::StoreError;

/// A change that visitors can see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct VisibleChange {
    /// The account whose links are affected.
    pub account: AccountId,
    /// Which of its links are affected.
    pub affected: Affected,
}

/// The links that a change affects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Affected {
    /// The links at these addresses: those that links left, moved to, or kept. The address of a new link is included,
    /// because a node may have cached that it was empty.
    Addresses(BTreeSet<Address>),
    /// All links that the account has or had on this custom domain. The domain was deleted or changed its status.
    Domain(Hostname),
    /// All links that the account has or had. The account was suspended, resumed or deleted, or a pixel of it was deleted.
    Account,
}

/// The visible changes of a unit of work so far. Adapters keep one for each unit of work, and note their changes in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangesMade {
    addresses: BTreeMap<AccountId, BTreeSet<Address>>,
    domains: BTreeSet<(AccountId, Hostname)>,
    accounts: BTreeSet<AccountId>,
}

impl ChangesMade {
    /// Notes that these links of the account have changed, or were deleted. Links without an address are ignored.
    pub fn note_links<'a>(&mut self, account: AccountId, links: impl IntoIterator<Item = &'a Link>) {
        self.note_addresses(account, links.into_iter().filter_map(|link| link.placement.address()));
    }

    /// Notes changes at these addresses of links that the account has or had.
    pub fn note_addresses(&mut self, account: AccountId, addresses: impl IntoIterator<Item = Address>) {
        let mut addresses = addresses.into_iter().peekable();
        if addresses.peek().is_some() {
            self.addresses.entry(account).or_default().extend(addresses);
        }
    }

    /// Notes a change of all links of the account on this custom domain.
    pub fn note_domain(&mut self, account: AccountId, hostname: &Hostname) {
        self.domains.insert((account, hostname.clone()));
    }

    /// Notes a change of all links of the account.
    pub fn note_account(&mut self, account: AccountId) {
        self.accounts.insert(account);
    }

    /// The changes, combined where possible. There are several only for several accounts, several domains, or both an
    /// account and its links.
    #[must_use]
    pub fn to_vec(&self) -> Vec<VisibleChange> {
        let of_accounts = self.accounts.iter().map(|account| (*account, Affected::Account));
        let of_links = self.addresses.iter();
        let of_links =
            of_links.map(|(account, addresses)| (*account, Affected::Addresses(addresses.clone())));
        let of_domains = self.domains.iter();
        let of_domains = of_domains.map(|(account, hostname)| (*account, Affected::Domain(hostname.clone())));
        of_accounts
            .chain(of_domains)
            .chain(of_links)
            .map(|(account, affected)| VisibleChange { account, affected })
            .collect()
    }
}

/// The id of an entry of a change log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId([u8; 16]);

impl ChangeId {
    /// The id that the store gave to an entry.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

/// The position of a reader in the change log. Only the store knows the meaning of the number; readers pass it back
/// unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangePosition(i64);

impl ChangePosition {
    /// The position for the store's number.
    #[must_use]
    pub const fn from_store(number: i64) -> Self {
        Self(number)
    }

    /// The store's number.
    #[must_use]
    pub const fn to_store(self) -> i64 {
        self.0
    }
}

/// An entry of the change log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedChange {
    /// Its id.
    pub id: ChangeId,
    /// The change.
    pub change: VisibleChange,
}

/// The result of a read of the change log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadChanges {
    /// All new entries, and perhaps some of those that the last read returned.
    These {
        /// The entries.
        changes: Vec<LoggedChange>,
        /// The position for the next read.
        position: ChangePosition,
    },
    /// There are more entries than requested, or the store has deleted some: anything may have changed.
    TooMany {
        /// The position for the next read.
        position: ChangePosition,
    },
}

/// The log of changes that visitors can see. A commit writes the visible changes of its unit of work to the log, atomically
/// with the changes themselves. Use cases do nothing for this: the methods of a unit of work note what they change.
///
/// - [`insert_links`](super::LinkWrites::insert_links), [`update_link`](super::LinkWrites::update_link) and
///   [`delete_links`](super::LinkWrites::delete_links): the addresses of the inserted or deleted links, or both addresses of
///   an updated one. All links share one entry. Links that a decision kept out are not included.
/// - [`delete_some_links`](super::LinkWrites::delete_some_links),
///   [`set_suspended`](super::AccountWrites::set_suspended),
///   [`delete_account`](super::AccountWrites::delete_account), [`delete_pixel`](super::PixelWrites::delete_pixel): the
///   account, if anything changed.
/// - [`write_page_contents`](super::LinkWrites::write_page_contents): the addresses of the pages.
/// - [`update_custom_domain`](super::CustomDomainWrites::update_custom_domain),
///   [`delete_custom_domain`](super::CustomDomainWrites::delete_custom_domain) and
///   [`lose_some_links`](super::CustomDomainWrites::lose_some_links): the domain, for each account whose domain or links they
///   changed.
/// - All other methods, including those that move links between groups: nothing.
#[async_trait]
pub trait ChangeLog: Send + Sync {
    /// The position for a reader that has cached nothing. It is behind all entries that were committed when this returns, and
    /// reads from it return all later ones.
    async fn end_of_changes(&self) -> Result<ChangePosition, StoreError>;

    /// The entries that were committed since the read that returned `position`, at most `at_most`.
    ///
    /// It never misses an entry of an answered commit, in any order of concurrent units of work. An entry may be returned
    /// more than once, but only by consecutive reads. So a reader that knows the ids of its last read handles each entry
    /// once.
    async fn changes_since(&self, position: ChangePosition, at_most: u32) -> Result<ReadChanges, StoreError>;

    /// Deletes up to `at_most` of the oldest entries, if their age is `kept` or more by the store's own clock. Returns how
    /// many: fewer than `at_most` only if none is left. A reader that has not read them gets [`ReadChanges::TooMany`].
    async fn forget_changes(&self, kept: Duration, at_most: u32) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    #[test]
    fn changes_of_one_accounts_links_are_combined() {
        let account = samples::id();
        let mut made = ChangesMade::default();
        assert_eq!(made.to_vec(), []);
        let lost = samples::redirect_at(samples::lost(Some("lost")));
        made.note_links(account, [&lost.into()]);
        assert_eq!(made.to_vec(), [], "a link without an address is not visible");
        let links = ["a", "b"].map(|slug| samples::redirect(slug).into_any());
        made.note_links(account, &links);
        made.note_links(account, &links[..1]);
        let addresses = links.iter().filter_map(|link| link.placement.address()).collect();
        let of_links = VisibleChange { account, affected: Affected::Addresses(addresses) };
        assert_eq!(made.to_vec(), std::slice::from_ref(&of_links));
        made.note_account(account);
        assert_eq!(made.to_vec(), [VisibleChange { account, affected: Affected::Account }, of_links]);
    }
}
