//! The change log: what other nodes must know of the changes that are made on this one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::{AccountId, Address, Hostname, Link};

use super::store_error::StoreError;

/// A change of what visitors are shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct VisibleChange {
    /// The account whose links show differently.
    pub account: AccountId,
    /// Which of them.
    pub affected: Affected,
}

/// What may show differently after a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Affected {
    /// These addresses: those that links have left, have come to, or have stayed at. An address of a new link is
    /// among them, since somebody may remember that there was nothing.
    Addresses(BTreeSet<Address>),
    /// All links that the account has or had on this custom domain, whose state has changed or that was removed.
    Domain(Hostname),
    /// All links that the account has or had: it was suspended, resumed, or deleted, or one of its pixels was.
    Account,
}

/// What a unit of work has changed so far. Adapters keep one for each and note in it what their methods did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangesMade {
    addresses: BTreeMap<AccountId, BTreeSet<Address>>,
    domains: BTreeSet<(AccountId, Hostname)>,
    accounts: BTreeSet<AccountId>,
}

impl ChangesMade {
    /// Links of the account show differently where they are, or were. A link without an address shows nowhere.
    pub fn note_links<'a>(&mut self, account: AccountId, links: impl IntoIterator<Item = &'a Link>) {
        self.note_addresses(account, links.into_iter().filter_map(|link| link.placement.address()));
    }

    /// These addresses, of links that the account has or had, show differently.
    pub fn note_addresses(&mut self, account: AccountId, addresses: impl IntoIterator<Item = Address>) {
        let mut addresses = addresses.into_iter().peekable();
        if addresses.peek().is_some() {
            self.addresses.entry(account).or_default().extend(addresses);
        }
    }

    /// All links of the account on this custom domain show differently.
    pub fn note_domain(&mut self, account: AccountId, hostname: &Hostname) {
        self.domains.insert((account, hostname.clone()));
    }

    /// All links of the account show differently.
    pub fn note_account(&mut self, account: AccountId) {
        self.accounts.insert(account);
    }

    /// The changes, as few as can be: one, unless the unit of work was about several accounts, several domains, or about
    /// an account and its links.
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

/// Tells the entries of a change log apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId([u8; 16]);

impl ChangeId {
    /// The id that a store has given to an entry.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

/// How far a reader of the change log has come. What the number means is the store's own affair: its readers hand back
/// what they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangePosition(i64);

impl ChangePosition {
    /// The position that a store means by a number.
    #[must_use]
    pub const fn from_store(number: i64) -> Self {
        Self(number)
    }

    /// The number by which the store knows the position.
    #[must_use]
    pub const fn to_store(self) -> i64 {
        self.0
    }
}

/// An entry of the change log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedChange {
    /// Which one.
    pub id: ChangeId,
    /// What it says.
    pub change: VisibleChange,
}

/// What a reader of the change log finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadChanges {
    /// Every entry that it has not been given yet, and perhaps some that it was given by its last read.
    These {
        /// The entries.
        changes: Vec<LoggedChange>,
        /// Where the next read goes on.
        position: ChangePosition,
    },
    /// More than it asked for, or some that the store has forgotten: anything may have changed.
    TooMany {
        /// Where the next read goes on.
        position: ChangePosition,
    },
}

/// The log of changes that visitors can see. Each unit of work that makes some is followed by an entry of them, which
/// stands or falls with it; nobody has to think of it, since the methods of a unit of work note what they do:
///
/// - [`insert_links`](super::LinkWrites::insert_links), [`update_link`](super::LinkWrites::update_link) and
///   [`delete_links`](super::LinkWrites::delete_links): the addresses of the links that were inserted or deleted, or
///   that one had before and has after. One entry, however many links there are. What was kept out by a decision is not
///   among them.
/// - [`delete_some_links`](super::LinkWrites::delete_some_links),
///   [`set_suspended`](super::AccountWrites::set_suspended),
///   [`delete_account`](super::AccountWrites::delete_account), [`delete_pixel`](super::PixelWrites::delete_pixel): the
///   account, if there was anything to do.
/// - [`write_page_content`](super::LinkWrites::write_page_content): the address of the page.
/// - [`update_custom_domain`](super::CustomDomainWrites::update_custom_domain),
///   [`delete_custom_domain`](super::CustomDomainWrites::delete_custom_domain) and
///   [`lose_some_links`](super::CustomDomainWrites::lose_some_links): the domain, of each account whose domain or links they
///   changed.
/// - The other methods, those that move links between groups among them: nothing.
#[async_trait]
pub trait ChangeLog: Send + Sync {
    /// Where a reader begins that has remembered nothing from before: all that was committed when this returns lies
    /// behind it, and what is committed later comes.
    async fn end_of_changes(&self) -> Result<ChangePosition, StoreError>;

    /// What was committed since the read that gave `position`, at most `at_most` entries.
    ///
    /// No entry of a commit that was answered is ever left out, in whatever order units of work begin and end. An entry
    /// may come more than once, and then in reads that follow each other, so that a reader that knows the ids of its
    /// last read sees each once.
    async fn changes_since(&self, position: ChangePosition, at_most: u32) -> Result<ReadChanges, StoreError>;

    /// Forgets the oldest entries that have stood for `kept` or longer, by the store's own clock; at most `at_most` of
    /// them. Returns how many, which is fewer than `at_most` only if none is left. A reader that has not come so far is
    /// told [`ReadChanges::TooMany`].
    async fn forget_changes(&self, kept: Duration, at_most: u32) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    #[test]
    fn one_unit_of_work_about_one_accounts_links_is_one_change() {
        let account = samples::id();
        let mut made = ChangesMade::default();
        assert_eq!(made.to_vec(), []);
        let lost = samples::redirect_at(samples::lost(Some("lost")));
        made.note_links(account, [&lost.into()]);
        assert_eq!(made.to_vec(), [], "what has no address shows nowhere");
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
