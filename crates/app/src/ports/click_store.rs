//! Storing and counting clicks (D45 to D51, D66).

use std::time::Instant;

use async_trait::async_trait;
use signpost_domain::analytics::{
    ClickId, ClickSelection, ClickSource, ExportedClick, PlannedDeletion, Question, RecentClicks, Report,
    UtcDay, VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::store_error::StoreError;

/// A batch of clicks of any accounts and days, encoded as one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedClicks {
    /// The recorder that sent the batch.
    pub source: ClickSource,
    /// The sequence number of the batch in its source, from 1.
    pub number: u64,
    /// The number of clicks, of all kinds.
    pub clicks: u32,
    /// The instant of the first click.
    pub first: Timestamp,
    /// The instant of the last click.
    pub last: Timestamp,
    /// The segment.
    pub segment: Vec<u8>,
}

/// The outcome of appending a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// This call stored the batch.
    Now,
    /// An earlier call stored the batch. It counts once.
    Before,
    /// The batch is not stored, because an earlier batch of its source is missing.
    AfterGap,
}

/// Whether a bounded step of upkeep left anything to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// More work is left.
    More,
    /// Nothing is left to do now.
    Done,
}

/// The outcome of packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// Whether more clicks wait to be packed.
    pub upkeep: Upkeep,
    /// The number of clicks that were dropped, because their account's clicks were deleted before they arrived.
    pub dropped: u64,
}

/// The clicks of an account from before a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldClicks {
    /// Their number, of all kinds, without those that are not packed yet.
    pub clicks: u64,
    /// The day of the oldest.
    pub oldest: UtcDay,
}

/// Stores clicks, and answers questions about them exactly.
///
/// Every answer is as of one moment, and counts each click that was appended before exactly once, also while upkeep runs.
///
/// Every call returns within the store's time limit (D6), if necessary with [`StoreError::Unavailable`].
/// [`answer`](Self::answer) and [`clicks`](Self::clicks) have a deadline instead. [`digest`](Self::digest)
/// and [`seal`](Self::seal) take as long as the largest day of an account needs.
#[async_trait]
pub trait ClickStore: Send + Sync {
    /// Stores a batch once. The batches of a source arrive in the order of their numbers. A stored batch survives a crash of
    /// the process.
    async fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError>;

    /// Answers a question. [`StoreError::Unavailable`] if the deadline passes first; the work for it then ends soon, too.
    async fn answer(&self, question: &Question, deadline: Instant) -> Result<Report, StoreError>;

    /// The selected clicks after `after` in the order of their ids, without widget clicks, at most `at_most`. A shorter answer
    /// is the last one. [`StoreError::Unavailable`] if the deadline passes first.
    async fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError>;

    /// The recent clicks of up to a hundred links: one entry for each, in the same order. `since` is the start of the last
    /// seven days.
    async fn recent_clicks(
        &self,
        account: AccountId,
        links: &[LinkId],
        since: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError>;

    /// The key that hashes the visitors of a day: `proposed` if the day has none yet. All nodes get the same key.
    async fn visitor_key(&self, day: UtcDay, proposed: VisitorKey) -> Result<VisitorKey, StoreError>;

    /// Destroys the keys of all days before `day`.
    async fn forget_visitor_keys(&self, day: UtcDay) -> Result<(), StoreError>;

    /// Merges small segments into larger ones by account and day. Any number of nodes may do this at the same time.
    async fn pack(&self, now: Timestamp) -> Result<Packed, StoreError>;

    /// Sums up days that have ended, so that questions about long periods do not read their clicks.
    async fn digest(&self, now: Timestamp) -> Result<Upkeep, StoreError>;

    /// Seals days that get no more clicks: it destroys their visitor hashes. While clicks of such a day wait to be packed, no
    /// day is sealed.
    async fn seal(&self, now: Timestamp) -> Result<Upkeep, StoreError>;

    /// The current day. A store with a clock of its own takes it from that one, whatever the node's clock says `now`.
    async fn today(&self, now: Timestamp) -> Result<UtcDay, StoreError>;

    /// Up to `at_most` accounts with clicks from before `day` or with a [planned deletion](Self::planned_deletion), in
    /// ascending order, starting after `after`.
    async fn accounts_with_clicks_before(
        &self,
        day: UtcDay,
        after: Option<AccountId>,
        at_most: usize,
    ) -> Result<Vec<AccountId>, StoreError>;

    /// An account's clicks from before `day`. `None` if there are none.
    async fn old_clicks(&self, account: AccountId, day: UtcDay) -> Result<Option<OldClicks>, StoreError>;

    /// The decision to delete old clicks of an account, if there is one.
    async fn planned_deletion(&self, account: AccountId) -> Result<Option<PlannedDeletion>, StoreError>;

    /// Stores the decision to delete old clicks of an account, instead of the earlier one; `None` removes it. It has no effect
    /// on the clicks.
    async fn plan_deletion(
        &self,
        account: AccountId,
        planned: Option<PlannedDeletion>,
    ) -> Result<(), StoreError>;

    /// Deletes an account's packed clicks of all days before `day`.
    ///
    /// If `day` is `None`, it deletes all clicks of the account and its planned deletion, for a deleted account. Clicks that
    /// wait to be packed or arrive later are then dropped when they are packed.
    async fn forget_clicks(&self, account: AccountId, day: Option<UtcDay>) -> Result<Upkeep, StoreError>;
}
