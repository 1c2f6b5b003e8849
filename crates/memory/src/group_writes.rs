//! Changing groups, and which links are in them.

use std::collections::BTreeSet;

use async_trait::async_trait;
use signpost_app::ports::{GroupWrites, InsertGroupError, StoreError};
use signpost_domain::{AccountId, Group, GroupId, Link, LinkId, Name, PlanResource, Timestamp};

use crate::state::{absent, no_account};
use crate::unit_of_work::MemoryUnitOfWork;

#[async_trait]
impl GroupWrites for MemoryUnitOfWork {
    async fn lock_group(&mut self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError> {
        self.write(|state| Ok(state.owned(account).and_then(|owned| owned.group(id))))
    }

    async fn groups_among(
        &mut self,
        account: AccountId,
        ids: &[GroupId],
    ) -> Result<Vec<GroupId>, StoreError> {
        self.write(|state| {
            let groups = state.owned(account).map(|owned| owned.groups.keys());
            Ok(groups.into_iter().flatten().filter(|id| ids.contains(id)).copied().collect())
        })
    }

    async fn lock_groups_named(
        &mut self,
        account: AccountId,
        names: &[Name],
    ) -> Result<Vec<Group>, StoreError> {
        self.write(|state| {
            let groups = state.owned(account).map(|owned| owned.groups.values());
            let found = groups.into_iter().flatten().filter(|group| names.contains(&group.name));
            Ok(found.filter_map(|group| state.owned(account)?.group(group.id)).collect())
        })
    }

    async fn insert_group(
        &mut self,
        account: AccountId,
        group: &Group,
        groups_limit: u64,
    ) -> Result<(), InsertGroupError> {
        self.write(|state| {
            let is_taken = state.has_group(group.id);
            let owned = state.owned_with_room(account, PlanResource::Groups, groups_limit)?;
            if is_taken {
                return Err(InsertGroupError::IdTaken);
            }
            owned.groups.insert(group.id, group.clone());
            Ok(())
        })
    }

    async fn update_group(&mut self, account: AccountId, group: &Group) -> Result<(), StoreError> {
        self.write(|state| {
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            let kept = owned.groups.get_mut(&group.id).ok_or_else(|| absent(group.id))?;
            kept.name = group.name.clone();
            kept.updated_at = group.updated_at;
            kept.revision = group.revision;
            Ok(())
        })
    }

    async fn assign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError> {
        self.write(|state| {
            let owned = state.owned_mut(account).filter(|owned| owned.groups.contains_key(&group));
            let Some(owned) = owned else { return Ok(None) };
            let mut assigned = Vec::with_capacity(ids.len());
            for id in each_once(ids) {
                if let Some(link) = owned.links.get_mut(&id) {
                    link.move_to_group(Some(group), now);
                    assigned.push(link.clone());
                }
            }
            Ok(Some(assigned.iter().map(|link| state.seen(account, link)).collect()))
        })
    }

    async fn unassign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError> {
        self.write(|state| {
            let owned = state.owned_mut(account).filter(|owned| owned.groups.contains_key(&group));
            let Some(owned) = owned else { return Ok(None) };
            let mut unassigned = Vec::with_capacity(ids.len());
            for id in each_once(ids) {
                if let Some(link) = owned.links.get_mut(&id).filter(|link| link.group_id == Some(group)) {
                    link.move_to_group(None, now);
                    unassigned.push(link.clone());
                }
            }
            Ok(Some(unassigned.iter().map(|link| state.seen(account, link)).collect()))
        })
    }

    async fn ungroup_some_links(
        &mut self,
        account: AccountId,
        id: GroupId,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(account) else { return Ok(0) };
            let inside = owned.links.values_mut().filter(|link| link.group_id == Some(id));
            let mut taken = 0;
            for link in inside.take(usize::from(at_most)) {
                link.move_to_group(None, now);
                taken += 1;
            }
            Ok(taken)
        })
    }

    async fn delete_group(
        &mut self,
        account: AccountId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(account) else { return Ok(false) };
            for link in owned.links.values_mut().filter(|link| link.group_id == Some(id)) {
                link.move_to_group(None, now);
            }
            Ok(owned.groups.remove(&id).is_some())
        })
    }
}

/// Removes repeated ids.
fn each_once(ids: &[LinkId]) -> BTreeSet<LinkId> {
    ids.iter().copied().collect()
}
