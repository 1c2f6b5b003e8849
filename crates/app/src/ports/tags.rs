//! Tags in the store.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use signpost_domain::{AccountId, Page, PageLimit, PagePosition, Tag, TagId, TagName, Timestamp};

use super::store_error::StoreError;

/// Reading tags.
#[async_trait]
pub trait TagReads: Send + Sync {
    /// One page of the account's tags, newest (highest id) first, starting after `after`. The store counts the links of each tag when
    /// it reads the tag, so the cost grows with the links of the page's tags, but not with the depth of the page (ADR 78).
    async fn tags(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Tag>, StoreError>;
}

/// The tags that a link needs: its names, each with the id of a new tag.
pub type NeededTags = Vec<(TagId, TagName)>;

/// Why a tag was not renamed.
#[derive(Debug, thiserror::Error)]
pub enum RenameTagError {
    /// A decision: another tag of the account has the name, compared without case.
    #[error("the tag {0} has this name")]
    NameTaken(TagId),
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changing tags, within a unit of work. Links get their tags by [`LinkWrites`](super::LinkWrites). The number of statements of a
/// method does not depend on the number of tags or links (D30). Visitors do not see tags, so nothing here is noted in the [`ChangeLog`](super::ChangeLog).
#[async_trait]
pub trait TagWrites: Send {
    /// Creates the tags that links need and the account lacks, as [`tags_to_create`] says, and updates the account's count of tags,
    /// which never exceeds `tags_limit`. Returns those of the needed tags that exist then, with their stored ids and names, in any
    /// order. They keep their names, and stay, until this unit of work ends. Returns none if the account does not exist.
    ///
    /// If several units of work create a tag of one name, it is created once. An id that already exists is a failure.
    async fn provide_tags(
        &mut self,
        account: AccountId,
        needs: &[NeededTags],
        tags_limit: u64,
        now: Timestamp,
    ) -> Result<Vec<(TagId, TagName)>, StoreError>;

    /// Deletes those of these tags of the account that no link has, and updates the account's count of tags.
    async fn delete_unused_tags(&mut self, account: AccountId, ids: &[TagId]) -> Result<(), StoreError>;

    /// The name of the account's tag with this id, which is locked until this unit of work ends. It does not count the links, because
    /// a merge or a deletion locks the tag for each piece of them.
    async fn lock_tag(&mut self, account: AccountId, id: TagId) -> Result<Option<TagName>, StoreError>;

    /// A tag that [`TagWrites::lock_tag`] found in this unit of work, as it is now, with the number of its links.
    async fn locked_tag(&mut self, account: AccountId, id: TagId) -> Result<Tag, StoreError>;

    /// Renames a tag that [`TagWrites::lock_tag`] found in this unit of work. All its links show the new name.
    async fn rename_tag(
        &mut self,
        account: AccountId,
        id: TagId,
        name: &TagName,
    ) -> Result<(), RenameTagError>;

    /// Gives up to `at_most` links of the tag `from` the tag `to` instead; a link with both loses only `from`. Returns how many links
    /// it took off `from`: fewer than `at_most` only if none is left. Both tags were locked in this unit of work.
    async fn move_tagged_links(
        &mut self,
        account: AccountId,
        from: TagId,
        to: TagId,
        at_most: u16,
    ) -> Result<u16, StoreError>;

    /// Takes the tag off up to `at_most` links. Returns how many: fewer than `at_most` only if none is left. The tag was locked in
    /// this unit of work.
    async fn untag_links(&mut self, account: AccountId, id: TagId, at_most: u16) -> Result<u16, StoreError>;

    /// Deletes a tag that no link has, and updates the account's count of tags. `false` if the account has no such tag.
    async fn delete_tag(&mut self, account: AccountId, id: TagId) -> Result<bool, StoreError>;
}

/// The tags to create, of those that links need and the account lacks. The lists are taken in order, and each as a whole: if there is
/// no room for all tags that a link lacks, none of them is created, and the room is left to the links after it. `existing` has the
/// keys of the account's tags.
#[must_use]
pub fn tags_to_create(needs: &[NeededTags], existing: &BTreeSet<String>, room: u64) -> NeededTags {
    let (mut created, mut keys, mut room) = (Vec::new(), existing.clone(), room);
    for needed in needs {
        let lacking: BTreeMap<&str, &(TagId, TagName)> = needed
            .iter()
            .filter(|(_, name)| !keys.contains(name.key()))
            .map(|tag| (tag.1.key(), tag))
            .collect();
        let count = u64::try_from(lacking.len()).unwrap_or(u64::MAX);
        if let Some(left) = room.checked_sub(count) {
            room = left;
            created.extend(lacking.values().map(|tag| (*tag).clone()));
            keys.extend(lacking.into_keys().map(str::to_owned));
        }
    }
    created
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    fn needed(names: &[&str]) -> NeededTags {
        names.iter().map(|name| (samples::id(), TagName::parse(name).unwrap())).collect()
    }

    #[test]
    fn d122_a_link_without_room_for_its_tags_leaves_the_room_to_the_next_one() {
        let needs = [&["Old", "a"][..], &["A", "b", "c"], &["b"], &["c"], &["old", "B"], &[]].map(needed);
        let existing = BTreeSet::from(["old".to_owned()]);
        for (room, expected) in
            [(0, &[][..]), (1, &["a"]), (2, &["a", "b"]), (3, &["a", "b", "c"]), (9, &["a", "b", "c"])]
        {
            let created = tags_to_create(&needs, &existing, room);
            let names: Vec<&str> = created.iter().map(|(_, name)| name.as_str()).collect();
            assert_eq!(names, expected, "{room}");
        }
    }
}
