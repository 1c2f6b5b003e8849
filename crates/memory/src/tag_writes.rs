//! Changing tags.

use std::collections::BTreeSet;

use async_trait::async_trait;
use signpost_app::ports::{NeededTags, RenameTagError, StoreError, TagWrites, tags_to_create};
use signpost_domain::{AccountId, Tag, TagId, TagName, Timestamp};

use crate::state::{absent, no_account, twice};
use crate::unit_of_work::MemoryUnitOfWork;

#[async_trait]
impl TagWrites for MemoryUnitOfWork {
    async fn provide_tags(
        &mut self,
        account: AccountId,
        needs: &[NeededTags],
        tags_limit: u64,
        now: Timestamp,
    ) -> Result<Vec<(TagId, TagName)>, StoreError> {
        self.write(|state| {
            let Some(usage) = state.usage(account) else { return Ok(Vec::new()) };
            let existing: BTreeSet<String> = match state.owned(account) {
                Some(owned) => owned.tags.values().map(|tag| tag.name.key().to_owned()).collect(),
                None => BTreeSet::new(),
            };
            let created = tags_to_create(needs, &existing, tags_limit.saturating_sub(usage.tags));
            if let Some((id, _)) = created.iter().find(|(id, _)| state.has_tag(*id)) {
                return Err(twice(id));
            }
            let needed: BTreeSet<&str> = needs.iter().flatten().map(|(_, name)| name.key()).collect();
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            for (id, name) in created {
                owned.tags.insert(id, Tag { id, name, links_count: 0, created_at: now });
            }
            let provided = owned.tags.values().filter(|tag| needed.contains(tag.name.key()));
            Ok(provided.map(|tag| (tag.id, tag.name.clone())).collect())
        })
    }

    async fn delete_unused_tags(&mut self, account: AccountId, ids: &[TagId]) -> Result<(), StoreError> {
        self.write(|state| {
            let Some(owned) = state.owned_mut(account) else { return Ok(()) };
            for id in ids {
                if owned.tag(*id).is_some_and(|tag| tag.links_count == 0) {
                    owned.tags.remove(id);
                }
            }
            Ok(())
        })
    }

    async fn lock_tag(&mut self, account: AccountId, id: TagId) -> Result<Option<TagName>, StoreError> {
        self.write(|state| Ok(state.owned(account).and_then(|owned| Some(owned.tags.get(&id)?.name.clone()))))
    }

    async fn locked_tag(&mut self, account: AccountId, id: TagId) -> Result<Tag, StoreError> {
        self.write(|state| state.owned(account).and_then(|owned| owned.tag(id)).ok_or_else(|| absent(id)))
    }

    async fn rename_tag(
        &mut self,
        account: AccountId,
        id: TagId,
        name: &TagName,
    ) -> Result<(), RenameTagError> {
        self.write(|state| {
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            if let Some(other) = owned.tag_named(name).filter(|tag| tag.id != id) {
                return Err(RenameTagError::NameTaken(other.id));
            }
            let tag = owned.tags.get_mut(&id).ok_or_else(|| absent(id))?;
            let before = std::mem::replace(&mut tag.name, name.clone());
            owned.replace_tag(&before, Some(name), usize::MAX);
            Ok(())
        })
    }

    async fn move_tagged_links(
        &mut self,
        account: AccountId,
        from: TagId,
        to: TagId,
        at_most: u16,
    ) -> Result<u16, StoreError> {
        self.write(|state| {
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            let name_of =
                |id: TagId| owned.tags.get(&id).map(|tag| tag.name.clone()).ok_or_else(|| absent(id));
            let (from, to) = (name_of(from)?, name_of(to)?);
            let moved = owned.replace_tag(&from, Some(&to), usize::from(at_most));
            Ok(u16::try_from(moved).unwrap_or(at_most))
        })
    }

    async fn untag_links(&mut self, account: AccountId, id: TagId, at_most: u16) -> Result<u16, StoreError> {
        self.write(|state| {
            let owned = state.owned_mut(account).ok_or_else(|| no_account(account))?;
            let name = owned.tags.get(&id).map(|tag| tag.name.clone()).ok_or_else(|| absent(id))?;
            let untagged = owned.replace_tag(&name, None, usize::from(at_most));
            Ok(u16::try_from(untagged).unwrap_or(at_most))
        })
    }

    async fn delete_tag(&mut self, account: AccountId, id: TagId) -> Result<bool, StoreError> {
        self.write(|state| Ok(state.owned_mut(account).is_some_and(|owned| owned.tags.remove(&id).is_some())))
    }
}
