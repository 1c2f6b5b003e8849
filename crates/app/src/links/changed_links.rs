//! The links that a batch changes, and the checks that need more than the link itself (D30, D123).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use signpost_domain::{AccountId, Address, ExternalId, GroupId, Link, LinkId, Refusal, Rejection};

use super::passwords::{HashChange, HashWrites};
use super::resource::{LinkResource, Pixels};
use super::tagging::ProvidedTags;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{StoreError, UnitOfWork, UpdateLinkError};

/// The outcome of an item.
pub(super) type Outcome<C> = Result<Link<C>, Rejection>;

/// Links that a unit of work has locked, each as it is stored, and as callers see it.
pub(super) type LockedLinks<C> = BTreeMap<LinkId, (Link, Link<C>)>;

/// Locks the account's links with these ids, as far as they are of the kind.
pub(super) async fn lock_links<C: LinkResource>(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    ids: &[LinkId],
) -> Result<LockedLinks<C>, StoreError> {
    let stored = work.lock_links(account, ids).await?;
    let completed = C::complete(work, account, stored.clone(), &mut Pixels::new()).await?;
    let mut by_id: BTreeMap<LinkId, Link> = stored.into_iter().map(|link| (link.id(), link)).collect();
    let with_stored = |link: Link<C>| {
        let id = LinkId::from(link.id);
        Some((id, (by_id.remove(&id)?, link)))
    };
    Ok(completed.into_iter().filter_map(with_stored).collect())
}

/// The error of a unit of work that could not write its links. After a decision, the next attempt finds what another request has
/// taken or deleted meanwhile.
pub(super) fn contended_if_decided(error: UpdateLinkError) -> StoreError {
    match error {
        UpdateLinkError::AddressTaken | UpdateLinkError::ExternalIdTaken | UpdateLinkError::GroupMissing => {
            StoreError::Contended
        }
        UpdateLinkError::Store(error) => error,
    }
}

/// A link that an item changes.
pub(super) struct Changed<C: LinkResource> {
    pub(super) index: usize,
    pub(super) stored: Link,
    pub(super) before: Link<C>,
    pub(super) after: Link<C>,
    pub(super) password: HashChange,
}

impl<C: LinkResource> Changed<C> {
    fn changes_tags(&self) -> bool {
        self.after.tags != self.before.tags
    }

    /// The group that the link enters.
    fn new_group(&self) -> Option<GroupId> {
        self.after.group_id.filter(|group| self.before.group_id != Some(*group))
    }

    /// The external id that the link takes.
    fn new_external_id(&self) -> Option<&ExternalId> {
        self.after.external_id.as_ref().filter(|id| self.before.external_id.as_ref() != Some(id))
    }

    /// The address that the link takes.
    fn new_address(&self) -> Option<Address> {
        let before = self.before.placement.address();
        self.after.placement.address().filter(|address| before.as_ref() != Some(address))
    }
}

/// The outcomes of an attempt so far, and the links that it will write.
pub(super) struct Progress<C: LinkResource> {
    pub(super) outcomes: Vec<Option<Outcome<C>>>,
    pub(super) changed: Vec<Changed<C>>,
}

impl<C: LinkResource> Progress<C> {
    pub(super) fn settle(&mut self, index: usize, outcome: Outcome<C>) {
        if let Some(settled) = self.outcomes.get_mut(index) {
            *settled = Some(outcome.map_err(Rejection::of_item));
        }
    }

    /// Checks the changed links in order, and refuses those that do not pass.
    fn check_each(&mut self, mut check: impl FnMut(&mut Changed<C>) -> Result<(), Rejection>) {
        for mut change in std::mem::take(&mut self.changed) {
            match check(&mut change) {
                Ok(()) => self.changed.push(change),
                Err(rejection) => self.settle(change.index, Err(rejection)),
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Vec<Outcome<C>>, AppError> {
        for change in std::mem::take(&mut self.changed) {
            self.settle(change.index, Ok(change.after));
        }
        self.outcomes.into_iter().map(|outcome| outcome.ok_or(AppError::NoOutcome)).collect()
    }

    /// Provides the tags of all changed links. Refuses those for whose tags the plan has no room.
    pub(super) async fn provide_tags(
        &mut self,
        app: &Application,
        caller: &Caller,
        work: &mut dyn UnitOfWork,
    ) -> Result<ProvidedTags, StoreError> {
        let (account, limits) = (caller.account_id(), &caller.plan().limits);
        let retagged = self.changed.iter().filter(|change| change.changes_tags());
        let needed = retagged.map(|change| &change.after.tags);
        let tags = ProvidedTags::of_links(app, work, account, limits, needed).await?;
        self.check_each(|change| {
            if change.changes_tags() {
                change.after.tags = tags.spell(&change.after.tags)?;
            }
            Ok(())
        });
        Ok(tags)
    }

    /// Refuses links that would enter groups that the account does not have.
    pub(super) async fn check_groups(
        &mut self,
        account: AccountId,
        work: &mut dyn UnitOfWork,
    ) -> Result<(), StoreError> {
        let named: BTreeSet<GroupId> = self.changed.iter().filter_map(Changed::new_group).collect();
        if named.is_empty() {
            return Ok(());
        }
        let named: Vec<GroupId> = named.into_iter().collect();
        let existing = work.groups_among(account, &named).await?;
        self.check_each(|change| match change.new_group() {
            Some(group) if !existing.contains(&group) => Err(Refusal::GroupNotFound.into()),
            Some(_) | None => Ok(()),
        });
        Ok(())
    }

    /// Refuses links whose new addresses and external ids are taken. This names the links that have them; the store decides
    /// when the links are written. `gives_up`: also refuses links whose new ones seem to be free, because other requests were
    /// faster too often.
    pub(super) async fn check_unique(
        &mut self,
        account: AccountId,
        work: &mut dyn UnitOfWork,
        gives_up: bool,
    ) -> Result<(), StoreError> {
        let ids: BTreeSet<&ExternalId> = self.changed.iter().filter_map(Changed::new_external_id).collect();
        let ids: Vec<ExternalId> = ids.into_iter().cloned().collect();
        let addresses: BTreeSet<Address> = self.changed.iter().filter_map(Changed::new_address).collect();
        let addresses: Vec<Address> = addresses.into_iter().collect();
        let holders =
            if ids.is_empty() { vec![] } else { work.links_with_external_ids(account, &ids).await? };
        let holders: HashMap<ExternalId, LinkId> = holders.into_iter().collect();
        let occupied = if addresses.is_empty() { vec![] } else { work.occupied(account, &addresses).await? };
        let occupied: HashMap<Address, Option<LinkId>> = occupied.into_iter().collect();
        let (mut claimed_ids, mut claimed_addresses) = (HashSet::new(), HashSet::new());
        self.check_each(|change| {
            let id = change.new_external_id().cloned();
            if let Some(id) = &id {
                let holder = holders.get(id).copied();
                if holder.is_some() || claimed_ids.contains(id) || gives_up {
                    let violation = ExternalId::taken_by(holder).of_value(id.as_str());
                    return Err(Rejection::Invalid(violation.into()));
                }
            }
            let address = change.new_address();
            if let Some(address) = &address {
                if let Some(existing) = occupied.get(address).copied() {
                    return Err(Refusal::AddressTaken { existing }.into());
                }
                if claimed_addresses.contains(address) {
                    return Err(Refusal::DuplicateSlugInBatch.into());
                }
                if gives_up {
                    return Err(Refusal::AddressTaken { existing: None }.into());
                }
            }
            claimed_ids.extend(id);
            claimed_addresses.extend(address);
            Ok(())
        });
        Ok(())
    }

    /// Writes the changed links.
    pub(super) async fn write(
        &self,
        account: AccountId,
        work: &mut dyn UnitOfWork,
    ) -> Result<(), UpdateLinkError> {
        let contents: Vec<_> = self.changed.iter().map(|change| (&change.before, &change.after)).collect();
        C::write_contents(work, account, &contents).await?;
        let after: Vec<Link> = self.changed.iter().map(|change| change.after.clone().into_any()).collect();
        let links: Vec<_> = self.changed.iter().map(|change| &change.stored).zip(&after).collect();
        work.update_links(account, &links).await?;
        let mut hashes = HashWrites::default();
        for Changed { stored, password, .. } in &self.changed {
            hashes.add(stored.id(), stored.has_password, password);
        }
        Ok(hashes.write(work, account).await?)
    }
}
