//! What a store of clicks must be able to read and to change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use signpost_app::ports::StoreError;
use signpost_clicks::{Digest, DigestScope, PackedSegment};
use signpost_domain::analytics::{ClickSource, UtcDay};
use signpost_domain::{AccountId, LinkId, Timestamp};

/// What a snapshot is read for. A store keeps the kinds apart, so that none waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// A question that ends soon.
    ShortQuestion,
    /// A question that may take long.
    LongQuestion,
    /// The recent clicks of a list of links, if they are few.
    RecentClicks,
    /// The recent clicks of a list of links, if they are many.
    ManyRecentClicks,
    /// Packing, digesting and sealing.
    Upkeep,
}

/// The key of a waiting batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchKey {
    /// The recorder that sent the batch.
    pub source: ClickSource,
    /// The number of the batch in its source.
    pub number: u64,
}

/// A waiting batch without its clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHead {
    /// The key.
    pub key: BatchKey,
    /// The number of clicks, of all kinds.
    pub clicks: u32,
    /// The size of the segment.
    pub bytes: u64,
    /// The instant of the first click.
    pub first: Timestamp,
    /// The instant of the last click.
    pub last: Timestamp,
}

/// Waiting batches that may have clicks of an account and a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchSelection {
    /// The account; without one, all.
    pub account: Option<AccountId>,
    /// The first instant of the period.
    pub first: Timestamp,
    /// The last instant of the period.
    pub last: Timestamp,
}

impl BatchSelection {
    /// All waiting batches.
    pub const ALL: Self = Self { account: None, first: Timestamp::EPOCH, last: Timestamp::LAST };
}

/// The key of a segment of an account's day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentKey {
    /// The account.
    pub account: AccountId,
    /// The day.
    pub day: UtcDay,
    /// The store's own number of the segment, unique within the day.
    pub id: u128,
}

/// A segment without its clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHead {
    /// The key.
    pub key: SegmentKey,
    /// The number of clicks, of all kinds.
    pub clicks: u32,
    /// The size of the segment.
    pub bytes: u64,
    /// Whether its visitors' hashes are destroyed.
    pub sealed: bool,
    /// The first of its links, in the order of their bytes.
    pub first_link: [u8; 16],
    /// The last of its links, in the order of their bytes.
    pub last_link: [u8; 16],
}

/// The first and the last link of a range, in the order of their bytes.
pub type LinkRange = (LinkId, LinkId);

/// A day of an account, and the version of its clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayVersion {
    /// The account.
    pub account: AccountId,
    /// The day.
    pub day: UtcDay,
    /// The version. It changes whenever the clicks of the day change.
    pub version: i64,
}

/// Days that upkeep has not finished with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingDays {
    /// Days without digests.
    ToDigest,
    /// Days whose segments are not sealed.
    ToSeal,
}

/// The state of a store at one moment. Dropping it ends the reading.
#[async_trait]
pub trait ClickSnapshot: Send {
    /// Up to `at_most` waiting batches, the oldest first as far as the store knows their age.
    async fn waiting_batches(
        &mut self,
        selection: BatchSelection,
        at_most: usize,
    ) -> Result<Vec<BatchHead>, StoreError>;

    /// The clicks of batches, in any order.
    async fn batch_data(&mut self, batches: &[BatchKey]) -> Result<Vec<(BatchKey, Vec<u8>)>, StoreError>;

    /// The segments of some days of accounts that may have clicks on links of a range.
    async fn segments(
        &mut self,
        days: &[(AccountId, UtcDay)],
        links: Option<LinkRange>,
    ) -> Result<Vec<SegmentHead>, StoreError>;

    /// The clicks of segments, in any order.
    async fn segment_data(
        &mut self,
        segments: &[SegmentKey],
    ) -> Result<Vec<(SegmentKey, Vec<u8>)>, StoreError>;

    /// Up to `at_most` pending days of all accounts up to the day `last`, the oldest first.
    async fn pending_days(
        &mut self,
        pending: PendingDays,
        last: UtcDay,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError>;

    /// The days of an account from `since` on, and the earlier ones without digests.
    async fn recent_days(&mut self, account: AccountId, since: UtcDay) -> Result<Vec<UtcDay>, StoreError>;

    /// Up to `at_most` days of an account before a day, or any of its days, the oldest first.
    async fn days_before(
        &mut self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError>;

    /// The versions of days. A day without clicks has none.
    async fn versions(&mut self, days: &[(AccountId, UtcDay)]) -> Result<Vec<DayVersion>, StoreError>;

    /// The digests of some days of an account, as far as there are any, in the order of the days. It ends with the digest with
    /// which they have `bytes` or more.
    async fn digests(
        &mut self,
        account: AccountId,
        days: &[UtcDay],
        scope: DigestScope,
        bytes: u64,
    ) -> Result<Vec<(UtcDay, Vec<u8>)>, StoreError>;

    /// The last clicks of links, as of the days that have digests.
    async fn last_clicks(
        &mut self,
        account: AccountId,
        links: &[LinkId],
    ) -> Result<BTreeMap<LinkId, Timestamp>, StoreError>;

    /// Those of the accounts whose clicks are dropped, because the accounts were deleted.
    async fn forgotten(&mut self, accounts: &[AccountId]) -> Result<BTreeSet<AccountId>, StoreError>;
}

/// A change of clicks that upkeep has computed from a snapshot.
#[derive(Debug, Default)]
pub struct ClickChange {
    /// The batches to remove from those that wait.
    pub taken: Vec<BatchKey>,
    /// Those of them that cannot be read, and why. They are kept where they block nothing.
    pub unreadable: Vec<(BatchKey, String)>,
    /// The changes of days, in ascending order of accounts and days.
    pub days: Vec<DayChange>,
}

/// A change of an account's day.
#[derive(Debug)]
pub struct DayChange {
    /// The account.
    pub account: AccountId,
    /// The day.
    pub day: UtcDay,
    /// The version that the change rests on; `None` if the day had no clicks.
    pub version: Option<i64>,
    /// What changes.
    pub effect: DayEffect,
}

/// What changes about a day.
#[derive(Debug)]
pub enum DayEffect {
    /// It has other segments: with new clicks, or sorted. So it is neither digested nor sealed. Its version moves, and its
    /// digests end.
    NewSegments(Replacement),
    /// It is digested. Its version stays.
    Digested {
        /// The digests.
        digests: Vec<Digest>,
        /// The last click of each link on that day.
        last_clicks: BTreeMap<LinkId, Timestamp>,
    },
    /// It is sealed. Its version moves.
    Sealed(Replacement),
    /// These segments are deleted, and the day with its last one. Otherwise its version moves, and its digests end.
    Deleted(Vec<SegmentKey>),
}

/// Segments that replace others of the same day.
#[derive(Debug, Default)]
pub struct Replacement {
    /// The segments to delete.
    pub removed: Vec<SegmentKey>,
    /// The segments to store.
    pub added: Vec<PackedSegment>,
}

/// The outcome of applying a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// The whole change is stored.
    Whole,
    /// Nothing is stored: a batch is gone, a day has another version, or an account with new clicks was deleted.
    Outdated,
}

/// The tables of a store of clicks.
#[async_trait]
pub trait ClickTables: Send + Sync {
    /// The time limit of a call (D6).
    fn time_limit(&self) -> Duration;

    /// Begins to read the state of one moment, until `ends` at the latest.
    async fn snapshot(&self, reading: Reading, ends: Instant) -> Result<Box<dyn ClickSnapshot>, StoreError>;

    /// Applies a change, if everything that it rests on is unchanged.
    async fn apply(&self, change: ClickChange, ends: Instant) -> Result<Applied, StoreError>;

    /// Notes that an account was deleted, and removes its planned deletion of old clicks. From then on no change with new
    /// clicks of the account is applied, not even one that is being applied now.
    async fn note_deleted_account(&self, account: AccountId, ends: Instant) -> Result<(), StoreError>;

    /// Deletes up to `at_most` last clicks of an account from before a day, or any. Returns how many.
    async fn delete_last_clicks(
        &self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
        ends: Instant,
    ) -> Result<usize, StoreError>;
}
