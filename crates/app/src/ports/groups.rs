//! Groups in the store.

use async_trait::async_trait;
use signpost_domain::{AccountId, Group, GroupId, Link, LinkId, Page, PageLimit, PagePosition, Timestamp};

use super::store_error::StoreError;

/// Reading groups.
#[async_trait]
pub trait GroupReads: Send + Sync {
    /// The account's group with this id.
    async fn group(&self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError>;

    /// One page of the account's groups, newest (highest id) first, beginning behind `after`. Its cost must
    /// not grow with its depth nor with the number of links in the groups.
    async fn groups(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Group>, StoreError>;
}

/// Why a group was not inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertGroupError {
    /// A decision: the account has as many groups as its plan allows.
    #[error("the limit on groups is reached")]
    LimitReached,
    /// A decision: the account was deleted after the request was let in.
    #[error("no such account")]
    AccountMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changing groups, within a unit of work.
#[async_trait]
pub trait GroupWrites: Send {
    /// The account's group with this id, held against other units of work until this one ends.
    async fn lock_group(&mut self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError>;

    /// Inserts an empty group and moves the account's count of groups, which never passes `groups_limit`. An id that any
    /// account has already is no decision but a failure.
    async fn insert_group(
        &mut self,
        account: AccountId,
        group: &Group,
        groups_limit: u64,
    ) -> Result<(), InsertGroupError>;

    /// Writes the name and `updated_at` of a group that [`GroupWrites::lock_group`] gave in this unit of work.
    /// The counters are the store's and stay as they are.
    async fn update_group(&mut self, account: AccountId, group: &Group) -> Result<(), StoreError>;

    /// Puts those of `ids` (as many as a [`Batch`](signpost_domain::Batch) has, of any kinds) that the account has into a group, and moves the counts of the
    /// groups that they leave and enter. A link that comes from elsewhere gets `now` as its `updated_at` (never an
    /// earlier one than it has); one that is in the group stays as it is (D33). Returns all of them as they are then,
    /// in any order; `None` if the account has no such group. An id
    /// that is named twice is meant once. It costs the same handful of statements for all as for one (D30).
    async fn assign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError>;

    /// Takes those of `ids` (as many as a [`Batch`](signpost_domain::Batch) has, of any kinds) that are in a group out of it, with `now` as their `updated_at`
    /// (never an earlier one than they have), and moves the group's counts. Returns them as they are then, in any
    /// order; `None` if the account has no such group. An id that is named twice is meant once. It costs the same
    /// handful of statements for all as for one (D30).
    async fn unassign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError>;

    /// Takes some of a group's links out of it, at most `at_most`, with `now` as their `updated_at` (never an earlier
    /// one than they have), and moves its counts. Returns how many it took, which is fewer than `at_most` only if
    /// none is left; 0 if the account has no such group. Its cost is bounded by `at_most`.
    async fn ungroup_some_links(
        &mut self,
        account: AccountId,
        id: GroupId,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError>;

    /// Deletes a group and moves the account's count of groups. Its links stay and become ungrouped, with `now`
    /// as their `updated_at` (never an earlier one than they have). `false` if the account has no such group.
    async fn delete_group(
        &mut self,
        account: AccountId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
