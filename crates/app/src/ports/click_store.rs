//! Where clicks are kept, counted and asked for (D45 to D51, D66).

use std::time::Instant;

use async_trait::async_trait;
use signpost_domain::analytics::{
    ClickId, ClickSelection, ClickSource, ExportedClick, Question, RecentClicks, Report, UtcDay, VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::store_error::StoreError;

/// Clicks of any accounts and days on their way to the store, encoded as one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedClicks {
    /// Who recorded them.
    pub source: ClickSource,
    /// The how-manyth batch of that source, from 1.
    pub number: u64,
    /// How many there are, of all kinds.
    pub clicks: u32,
    /// The instant of the first.
    pub first: Timestamp,
    /// The instant of the last.
    pub last: Timestamp,
    /// The segment.
    pub segment: Vec<u8>,
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is stored now.
    Now,
    /// It had been stored before, and counts once.
    Before,
    /// It is not stored: an earlier batch of its source is missing.
    AfterGap,
}

/// Whether a bounded step of upkeep left anything to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// There is more to do now.
    More,
    /// Nothing is left to do now.
    Done,
}

/// Keeps clicks, and answers what is asked of them, exactly.
///
/// Every answer is as of one moment, and counts each click that was appended before it once, whatever upkeep runs meanwhile.
/// Every call returns within the store's time limit (D6), with [`StoreError::Unavailable`] if it must. Exempt are
/// [`answer`](Self::answer) and [`clicks`](Self::clicks), which have a deadline, and [`digest`](Self::digest) and
/// [`seal`](Self::seal), which take as long as the largest day of an account needs, at most a minute.
#[async_trait]
pub trait ClickStore: Send + Sync {
    /// Stores a batch, once. Batches of one source come in the order of their numbers. What is stored survives a crash of the
    /// process.
    async fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError>;

    /// Answers a question. [`StoreError::Unavailable`] if there is no answer by the deadline; then its work ends soon, too.
    async fn answer(&self, question: &Question, deadline: Instant) -> Result<Report, StoreError>;

    /// The selected clicks behind `after` in the order of their ids, at most so many. Widget clicks are not among them. Fewer
    /// than `at_most` are the last ones. [`StoreError::Unavailable`] if there is no answer by the deadline.
    async fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError>;

    /// What was clicked lately of these links, at most a hundred: one entry for each, in their order. `since` is the beginning of
    /// the last seven days.
    async fn recent_clicks(
        &self,
        account: AccountId,
        links: &[LinkId],
        since: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError>;

    /// The key of a day's visitors, which is `proposed` if the day has none yet. All nodes get the same one.
    async fn visitor_key(&self, day: UtcDay, proposed: VisitorKey) -> Result<VisitorKey, StoreError>;

    /// Destroys the keys of all days before `day`.
    async fn forget_visitor_keys(&self, day: UtcDay) -> Result<(), StoreError>;

    /// Makes larger segments of small ones, by account and day. Any number of nodes may do this at once.
    async fn pack(&self, now: Timestamp) -> Result<Upkeep, StoreError>;

    /// Sums up days that have ended, so that long periods are answered without reading their clicks.
    async fn digest(&self, now: Timestamp) -> Result<Upkeep, StoreError>;

    /// Seals days for which no more clicks are expected: their visitors' hashes are destroyed. While clicks of such a day wait to
    /// be packed, none is sealed.
    async fn seal(&self, now: Timestamp) -> Result<Upkeep, StoreError>;

    /// Accounts that have clicks from before `day`, ascending from behind `after`, at most so many.
    async fn accounts_with_clicks_before(
        &self,
        day: UtcDay,
        after: Option<AccountId>,
        at_most: usize,
    ) -> Result<Vec<AccountId>, StoreError>;

    /// Deletes an account's clicks of all days before `day`; of all days at all if there is none. Clicks that were appended
    /// and not packed are deleted as well, now or when they are packed.
    async fn forget_clicks(&self, account: AccountId, day: Option<UtcDay>) -> Result<Upkeep, StoreError>;
}
