//! The tables of clicks, for the code that all stores share.

use std::collections::{BTreeMap, BTreeSet};
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

use super::store::SqliteClickStore;
use super::{changes, days, digests, inbox, retention, segments};
use crate::snapshot::Snapshot;

#[async_trait]
impl ClickTables for SqliteClickStore {
    fn time_limit(&self) -> Duration {
        self.options().time_limit
    }

    async fn snapshot(&self, reading: Reading, ends: Instant) -> Result<Box<dyn ClickSnapshot>, StoreError> {
        let turn = self.turn(reading, ends).await?;
        Ok(Box::new(Snapshot::begin(self.readers(), turn, ends).await?))
    }

    async fn apply(&self, change: ClickChange, _: Instant) -> Result<Applied, StoreError> {
        self.writer().write(move |connection| changes::apply(connection, change)).await
    }

    async fn note_deleted_account(&self, account: AccountId, _: Instant) -> Result<(), StoreError> {
        self.writer().write(move |connection| retention::note_deleted_account(connection, account)).await
    }

    async fn delete_last_clicks(
        &self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
        _: Instant,
    ) -> Result<usize, StoreError> {
        let delete =
            move |connection: &mut _| retention::delete_last_clicks(connection, account, before, at_most);
        self.writer().write(delete).await
    }
}

#[async_trait]
impl ClickSnapshot for Snapshot {
    async fn waiting_batches(
        &mut self,
        selection: BatchSelection,
        at_most: usize,
    ) -> Result<Vec<BatchHead>, StoreError> {
        self.read(move |connection| inbox::waiting(connection, selection, at_most)).await
    }

    async fn batch_data(&mut self, batches: &[BatchKey]) -> Result<Vec<(BatchKey, Vec<u8>)>, StoreError> {
        let batches = batches.to_vec();
        self.read(move |connection| inbox::data(connection, &batches)).await
    }

    async fn segments(
        &mut self,
        days: &[(AccountId, UtcDay)],
        links: Option<LinkRange>,
    ) -> Result<Vec<SegmentHead>, StoreError> {
        let days = days.to_vec();
        self.read(move |connection| segments::heads(connection, &days, links)).await
    }

    async fn segment_data(
        &mut self,
        segments: &[SegmentKey],
    ) -> Result<Vec<(SegmentKey, Vec<u8>)>, StoreError> {
        let segments = segments.to_vec();
        self.read(move |connection| segments::data(connection, &segments)).await
    }

    async fn pending_days(
        &mut self,
        pending: PendingDays,
        last: UtcDay,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError> {
        self.read(move |connection| days::pending(connection, pending, last, at_most)).await
    }

    async fn recent_days(&mut self, account: AccountId, since: UtcDay) -> Result<Vec<UtcDay>, StoreError> {
        self.read(move |connection| days::recent(connection, account, since)).await
    }

    async fn days_before(
        &mut self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError> {
        self.read(move |connection| days::before(connection, account, before, at_most)).await
    }

    async fn versions(&mut self, days: &[(AccountId, UtcDay)]) -> Result<Vec<DayVersion>, StoreError> {
        let days = days.to_vec();
        self.read(move |connection| days::versions(connection, &days)).await
    }

    async fn digests(
        &mut self,
        account: AccountId,
        days: &[UtcDay],
        scope: DigestScope,
        bytes: u64,
    ) -> Result<Vec<(UtcDay, Vec<u8>)>, StoreError> {
        let days = days.to_vec();
        self.read(move |connection| digests::of_days(connection, account, &days, scope, bytes)).await
    }

    async fn last_clicks(
        &mut self,
        account: AccountId,
        links: &[LinkId],
    ) -> Result<BTreeMap<LinkId, Timestamp>, StoreError> {
        let links = links.to_vec();
        self.read(move |connection| digests::last_clicks(connection, account, &links)).await
    }

    async fn forgotten(&mut self, accounts: &[AccountId]) -> Result<BTreeSet<AccountId>, StoreError> {
        let accounts = accounts.to_vec();
        self.read(move |connection| {
            let mut forgotten = BTreeSet::new();
            for account in accounts {
                if retention::is_forgotten(connection, account)? {
                    forgotten.insert(account);
                }
            }
            Ok(forgotten)
        })
        .await
    }
}
