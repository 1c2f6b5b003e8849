//! Tables that note how much is read for what, and change meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use signpost_app::ports::StoreError;
use signpost_click_store::{
    Applied, BatchHead, BatchKey, BatchSelection, ClickChange, ClickSnapshot, ClickTables, DayVersion,
    LinkRange, PendingDays, Reading, SegmentHead, SegmentKey,
};
use signpost_clicks::DigestScope;
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId, Timestamp};

type BytesRead = Arc<Mutex<BTreeMap<Reading, Vec<usize>>>>;

/// Tables of a store, and the bytes of clicks and digests that were read from them.
pub(super) struct ObservedTables {
    tables: Arc<dyn ClickTables>,
    read: BytesRead,
    /// A change that another node makes just before a snapshot, and how many are begun before that one.
    interruption: Mutex<Option<(usize, ClickChange)>>,
}

impl ObservedTables {
    pub(super) fn new(tables: Arc<dyn ClickTables>) -> Self {
        Self { tables, read: Arc::default(), interruption: Mutex::default() }
    }

    /// Makes the change after this number of snapshots, whatever the versions of its days are by then.
    pub(super) fn changing_after(self, snapshots: usize, change: ClickChange) -> Self {
        *self.interruption.lock().unwrap() = Some((snapshots, change));
        self
    }

    /// The change, if it is its turn.
    fn interruption(&self) -> Option<ClickChange> {
        let mut interruption = self.interruption.lock().unwrap();
        match interruption.take() {
            Some((0, change)) => Some(change),
            Some((snapshots, change)) => {
                *interruption = Some((snapshots - 1, change));
                None
            }
            None => None,
        }
    }

    /// The bytes by what they were read for. Readings without any are included.
    pub(super) fn bytes_read(&self) -> BTreeMap<Reading, usize> {
        self.read.lock().unwrap().iter().map(|(reading, bytes)| (*reading, bytes.iter().sum())).collect()
    }

    /// The bytes of the largest read.
    pub(super) fn largest_read(&self) -> usize {
        self.read.lock().unwrap().values().flatten().copied().max().unwrap_or_default()
    }
}

#[async_trait]
impl ClickTables for ObservedTables {
    fn time_limit(&self) -> Duration {
        self.tables.time_limit()
    }

    async fn snapshot(&self, reading: Reading, ends: Instant) -> Result<Box<dyn ClickSnapshot>, StoreError> {
        if let Some(mut change) = self.interruption() {
            let mut snapshot = self.tables.snapshot(Reading::Upkeep, ends).await?;
            for day in &mut change.days {
                let versions = snapshot.versions(&[(day.account, day.day)]).await?;
                day.version = versions.first().map(|found| found.version);
            }
            drop(snapshot);
            assert_eq!(self.tables.apply(change, ends).await?, Applied::Whole);
        }
        let snapshot = self.tables.snapshot(reading, ends).await?;
        self.read.lock().unwrap().entry(reading).or_default();
        Ok(Box::new(ObservedSnapshot { snapshot, reading, read: Arc::clone(&self.read) }))
    }

    async fn apply(&self, change: ClickChange, ends: Instant) -> Result<Applied, StoreError> {
        self.tables.apply(change, ends).await
    }

    async fn note_deleted_account(&self, account: AccountId, ends: Instant) -> Result<(), StoreError> {
        self.tables.note_deleted_account(account, ends).await
    }

    async fn delete_last_clicks(
        &self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
        ends: Instant,
    ) -> Result<usize, StoreError> {
        self.tables.delete_last_clicks(account, before, at_most, ends).await
    }
}

struct ObservedSnapshot {
    snapshot: Box<dyn ClickSnapshot>,
    reading: Reading,
    read: BytesRead,
}

impl ObservedSnapshot {
    fn note<K>(&self, data: Vec<(K, Vec<u8>)>) -> Vec<(K, Vec<u8>)> {
        let bytes: usize = data.iter().map(|(_, data)| data.len()).sum();
        self.read.lock().unwrap().entry(self.reading).or_default().push(bytes);
        data
    }
}

#[async_trait]
impl ClickSnapshot for ObservedSnapshot {
    async fn waiting_batches(
        &mut self,
        selection: BatchSelection,
        at_most: usize,
    ) -> Result<Vec<BatchHead>, StoreError> {
        self.snapshot.waiting_batches(selection, at_most).await
    }

    async fn batch_data(&mut self, batches: &[BatchKey]) -> Result<Vec<(BatchKey, Vec<u8>)>, StoreError> {
        let data = self.snapshot.batch_data(batches).await?;
        Ok(self.note(data))
    }

    async fn segments(
        &mut self,
        days: &[(AccountId, UtcDay)],
        links: Option<LinkRange>,
    ) -> Result<Vec<SegmentHead>, StoreError> {
        self.snapshot.segments(days, links).await
    }

    async fn segment_data(
        &mut self,
        segments: &[SegmentKey],
    ) -> Result<Vec<(SegmentKey, Vec<u8>)>, StoreError> {
        let data = self.snapshot.segment_data(segments).await?;
        Ok(self.note(data))
    }

    async fn pending_days(
        &mut self,
        pending: PendingDays,
        last: UtcDay,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError> {
        self.snapshot.pending_days(pending, last, at_most).await
    }

    async fn recent_days(&mut self, account: AccountId, since: UtcDay) -> Result<Vec<UtcDay>, StoreError> {
        self.snapshot.recent_days(account, since).await
    }

    async fn days_before(
        &mut self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError> {
        self.snapshot.days_before(account, before, at_most).await
    }

    async fn versions(&mut self, days: &[(AccountId, UtcDay)]) -> Result<Vec<DayVersion>, StoreError> {
        self.snapshot.versions(days).await
    }

    async fn digests(
        &mut self,
        account: AccountId,
        days: &[UtcDay],
        scope: DigestScope,
        bytes: u64,
    ) -> Result<Vec<(UtcDay, Vec<u8>)>, StoreError> {
        let digests = self.snapshot.digests(account, days, scope, bytes).await?;
        Ok(self.note(digests))
    }

    async fn last_clicks(
        &mut self,
        account: AccountId,
        links: &[LinkId],
    ) -> Result<BTreeMap<LinkId, Timestamp>, StoreError> {
        self.snapshot.last_clicks(account, links).await
    }

    async fn forgotten(&mut self, accounts: &[AccountId]) -> Result<BTreeSet<AccountId>, StoreError> {
        self.snapshot.forgotten(accounts).await
    }
}
