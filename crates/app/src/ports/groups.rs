//! Groups in the store.

use async_trait::async_trait;
use signpost_domain::{
    AccountId, Group, GroupId, Link, LinkId, Name, Page, PageLimit, PagePosition, Timestamp,
};

use super::insert_resource::InsertResourceError;
use super::store_error::StoreError;

/// Why a group was not inserted. If several decisions apply, [`IdTaken`](Self::IdTaken) is the last.
#[derive(Debug, thiserror::Error)]
pub enum InsertGroupError {
    /// A decision: another group, of any account, has the id.
    #[error("the id is taken")]
    IdTaken,
    /// As for every resource that the plan limits.
    #[error(transparent)]
    Resource(#[from] InsertResourceError),
}

impl From<StoreError> for InsertGroupError {
    fn from(error: StoreError) -> Self {
        Self::Resource(error.into())
    }
}

/// Reading groups.
#[async_trait]
pub trait GroupReads: Send + Sync {
    /// The account's group with this id.
    async fn group(&self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError>;

    /// Those of `ids` that a group of any account has, each once and in any order. Other transactions can change the answer at any
    /// time, so only an insertion decides.
    async fn taken_group_ids(&self, ids: &[GroupId]) -> Result<Vec<GroupId>, StoreError>;

    /// One page of the account's groups, newest (highest id) first, starting after `after`. The cost must not grow with the
    /// depth of the page or the number of links in the groups.
    async fn groups(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Group>, StoreError>;
}

/// Changing groups, within a unit of work.
#[async_trait]
pub trait GroupWrites: Send {
    /// The account's group with this id, locked until this unit of work ends.
    async fn lock_group(&mut self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError>;

    /// Those of `ids` that are groups of the account, each once and in any order. It locks nothing: only a unit of work that
    /// [moves links](super::LinkWrites::expect_move) can rely on them until it ends.
    async fn groups_among(&mut self, account: AccountId, ids: &[GroupId])
    -> Result<Vec<GroupId>, StoreError>;

    /// The account's groups that have one of these names, in any order; rows that cannot be read are left out. Until this unit of work ends, no
    /// other one inserts groups into the account.
    async fn lock_groups_named(
        &mut self,
        account: AccountId,
        names: &[Name],
    ) -> Result<Vec<Group>, StoreError>;

    /// Inserts an empty group and updates the account's count of groups, which never exceeds `groups_limit`. A group that was
    /// not inserted leaves no trace.
    async fn insert_group(
        &mut self,
        account: AccountId,
        group: &Group,
        groups_limit: u64,
    ) -> Result<(), InsertGroupError>;

    /// Writes the name and `updated_at` of a group that [`GroupWrites::lock_group`] returned in this unit of work. The store
    /// keeps its counts, which do not change.
    async fn update_group(&mut self, account: AccountId, group: &Group) -> Result<(), StoreError>;

    /// Moves the account's links among `ids` into a group, and updates the counts of the groups that they leave and enter.
    ///
    /// `ids` has at most the size of a [`Batch`](signpost_domain::Batch), with ids of any kinds; a repeated id counts once. A
    /// link that is moved gets `now` as its `updated_at`, but never an earlier one than it has. A link that is already in the
    /// group stays unchanged (D33).
    ///
    /// Returns all these links, updated, in any order; `None` if the account has no such group. The number of statements does
    /// not depend on the number of ids (D30).
    async fn assign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError>;

    /// Takes the links among `ids` that are in a group out of it, and updates the group's counts.
    ///
    /// `ids` has at most the size of a [`Batch`](signpost_domain::Batch), with ids of any kinds; a repeated id counts once. The
    /// links get `now` as their `updated_at`, but never an earlier one than they have.
    ///
    /// Returns these links, updated, in any order; `None` if the account has no such group. The number of statements does not
    /// depend on the number of ids (D30).
    async fn unassign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError>;

    /// Takes up to `at_most` links out of a group, and updates its counts. The links get `now` as their `updated_at`, but
    /// never an earlier one than they have. Returns how many it took: fewer than `at_most` only if none is left, and 0 if the
    /// account has no such group. `at_most` bounds the cost.
    async fn ungroup_some_links(
        &mut self,
        account: AccountId,
        id: GroupId,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError>;

    /// Deletes a group and updates the account's count of groups. Its links stay and become ungrouped, with `now` as their
    /// `updated_at`, but never an earlier one than they have. `false` if the account has no such group.
    async fn delete_group(
        &mut self,
        account: AccountId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
