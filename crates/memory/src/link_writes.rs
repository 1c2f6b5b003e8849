//! Changing links.

use std::collections::BTreeSet;

use async_trait::async_trait;
use signpost_app::ports::{InsertLinksError, Insertion, LinkWrites, StoreError, UpdateLinkError};
use signpost_domain::{AccountId, Address, ExternalId, LandingId, Link, LinkId, PageContent};

use crate::click_credits::keeping_taken;
use crate::state::{State, absent, no_account, twice};
use crate::unit_of_work::MemoryUnitOfWork;

#[async_trait]
impl LinkWrites for MemoryUnitOfWork {
    async fn lock_link(&mut self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.write(|state| {
            let link = state.owned(account).and_then(|owned| owned.links.get(&id));
            Ok(link.map(|link| state.seen(account, link)))
        })
    }

    async fn lock_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned(account) else { return Ok(Vec::new()) };
            let each_once: BTreeSet<&LinkId> = ids.iter().collect();
            let found = each_once.into_iter().filter_map(|id| owned.links.get(id));
            Ok(found.map(|link| state.seen(account, link)).collect())
        })
    }

    async fn insert_links(
        &mut self,
        account: AccountId,
        links: &[Link],
        links_limit: u64,
    ) -> Result<Vec<Insertion>, InsertLinksError> {
        let is_refused = self.faults().refuses_addresses();
        self.write_noting(|state, changes| {
            if state.owned(account).is_none() {
                return Err(InsertLinksError::AccountMissing);
            }
            if is_refused {
                return Ok(vec![Insertion::AddressTaken; links.len()]);
            }
            // Before anything is inserted, because a failure must leave nothing behind.
            let mut ids = BTreeSet::new();
            for id in links.iter().map(Link::id) {
                if !ids.insert(id) {
                    return Err(twice(id).into());
                }
            }
            let mut named = BTreeSet::new();
            let insert = |link: &Link| {
                let is_repeated = link.external_id.clone().is_some_and(|id| !named.insert(id));
                let insertion = insert(state, account, link, links_limit, is_repeated)?;
                if insertion == Insertion::Done {
                    changes.note_links(account, [link]);
                }
                Ok(insertion)
            };
            links.iter().map(insert).collect()
        })
    }

    async fn update_links(
        &mut self,
        account: AccountId,
        changes: &[(&Link, &Link)],
    ) -> Result<(), UpdateLinkError> {
        let is_refused = self.faults().refuses_addresses();
        self.write_noting(|state, noted| {
            if changes.is_empty() {
                return Ok(());
            }
            let owned = state.owned(account).ok_or_else(|| no_account(account))?;
            let after = || changes.iter().map(|(_, after)| *after);
            if !after().all(|link| owned.has_group_of(link)) {
                return Err(UpdateLinkError::GroupMissing);
            }
            for (before, after) in changes {
                let id = after.id();
                let kept = owned.links.get(&id).ok_or_else(|| absent(id))?;
                if state.seen(account, kept) != **before {
                    let reason = format!("the unit of work did not lock {id} in the given state");
                    return Err(StoreError::unavailable(reason).into());
                }
            }
            let mut external_ids = BTreeSet::new();
            let is_repeated =
                |link: &Link| link.external_id.as_ref().is_some_and(|id| !external_ids.insert(id.clone()));
            if after().any(|link| owned.has_external_id_of(link)) || after().any(is_repeated) {
                return Err(UpdateLinkError::ExternalIdTaken);
            }
            let mut addresses = BTreeSet::new();
            let is_repeated =
                |link: &Link| link.placement.address().is_some_and(|address| !addresses.insert(address));
            if is_refused || after().any(|link| state.is_taken_from(link)) || after().any(is_repeated) {
                return Err(UpdateLinkError::AddressTaken);
            }
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            for (before, after) in changes {
                let tagged = owned.tagged(after);
                let tagged = match owned.links.get(&after.id()) {
                    Some(stored) => keeping_taken(stored, tagged),
                    None => tagged,
                };
                owned.links.insert(after.id(), tagged);
                noted.note_links(account, [*before, *after]);
            }
            Ok(())
        })
    }

    async fn occupied(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError> {
        self.write(|state| Ok(state.occupied(account, addresses)))
    }

    async fn links_at(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, LinkId)>, StoreError> {
        self.write(|state| {
            let links = state.owned(account).into_iter().flat_map(|owned| owned.links.values());
            let placed = links.filter_map(|link| Some((link.placement.address()?, link.id())));
            Ok(placed.filter(|(address, _)| addresses.contains(address)).collect())
        })
    }

    async fn links_with_external_ids(
        &mut self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError> {
        self.write(|state| {
            Ok(state.owned(account).map(|owned| owned.with_external_ids(ids)).unwrap_or_default())
        })
    }

    async fn page_contents(
        &mut self,
        account: AccountId,
        ids: &[LandingId],
    ) -> Result<Vec<(LandingId, PageContent)>, StoreError> {
        self.write(|state| {
            let owned = state.owned(account).ok_or_else(|| no_account(account))?;
            let content = |id: &LandingId| {
                owned.page(*id).map(|(_, content)| (*id, content)).ok_or_else(|| absent(*id))
            };
            ids.iter().map(content).collect()
        })
    }

    async fn write_page_contents(
        &mut self,
        account: AccountId,
        pages: &[(LandingId, &PageContent)],
    ) -> Result<(), StoreError> {
        self.write_noting(|state, changes| {
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            for (id, content) in pages {
                let page = owned.write_page(*id, (*content).clone()).ok_or_else(|| absent(*id))?;
                changes.note_links(account, [page]);
            }
            Ok(())
        })
    }

    async fn delete_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError> {
        self.write_noting(|state, changes| {
            let Some(owned) = state.owned_mut(account) else { return Ok(Vec::new()) };
            let deleted: Vec<Link> = ids.iter().filter_map(|id| owned.remove_link(*id)).collect();
            changes.note_links(account, &deleted);
            Ok(deleted.iter().map(Link::id).collect())
        })
    }

    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError> {
        self.write_noting(|state, changes| {
            let Some(owned) = state.owned_mut(account) else { return Ok(0) };
            let mut deleted = 0;
            while deleted < at_most
                && let Some(id) = owned.links.keys().next().copied()
            {
                owned.remove_link(id);
                deleted += 1;
            }
            if deleted > 0 {
                changes.note_account(account);
            }
            Ok(deleted)
        })
    }
}

/// Inserts one link unless it is refused. Only then is the account copied. `is_repeated`: an earlier link of the call names
/// its external id.
fn insert(
    state: &mut State,
    account: AccountId,
    link: &Link,
    links_limit: u64,
    is_repeated: bool,
) -> Result<Insertion, InsertLinksError> {
    let owned = state.owned(account).ok_or(InsertLinksError::AccountMissing)?;
    if !owned.has_group_of(link) {
        return Ok(Insertion::GroupMissing);
    }
    let usage = state.usage(account).ok_or(InsertLinksError::AccountMissing)?;
    if usage.links >= links_limit {
        return Ok(Insertion::LimitReached);
    }
    if is_repeated || owned.has_external_id_of(link) {
        return Ok(Insertion::ExternalIdTaken);
    }
    if let Some(existing) = state.link_of_any_account(link.id()) {
        let address = link.placement.address();
        let is_same = address.is_some() && existing.placement.address() == address;
        return Ok(if is_same { Insertion::AddressTaken } else { Insertion::IdTaken });
    }
    if state.is_taken_from(link) {
        return Ok(Insertion::AddressTaken);
    }
    let owned = state.owned_mut(account).ok_or(InsertLinksError::AccountMissing)?;
    let tagged = owned.tagged(link);
    owned.links.insert(link.id(), tagged);
    Ok(Insertion::Done)
}
