//! The tables of clicks, for the code that all stores share.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel_async::AsyncPgConnection;
use signpost_app::ports::StoreError;
use signpost_click_store::{
    Applied, BatchHead, BatchKey, BatchSelection, ClickChange, ClickSnapshot, ClickTables, DayVersion,
    LinkRange, PendingDays, Reading, SegmentHead, SegmentKey,
};
use signpost_clicks::DigestScope;
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::{changes, days, digests, inbox, retention, segments};
use crate::failure::{Failure, is_contended};
use crate::lease::Lease;
use crate::permits::Purpose;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::IdBytes;

#[async_trait]
impl ClickTables for PostgresStore {
    fn time_limit(&self) -> Duration {
        Self::time_limit(self)
    }

    async fn snapshot(&self, reading: Reading, ends: Instant) -> Result<Box<dyn ClickSnapshot>, StoreError> {
        let purpose = match reading {
            Reading::ShortQuestion => Purpose::ClickQuestion,
            Reading::LongQuestion => Purpose::LongClickQuestion,
            Reading::RecentClicks => Purpose::Read,
            Reading::ManyRecentClicks => Purpose::Search,
            Reading::Upkeep => Purpose::ClickUpkeep,
        };
        let begun = async {
            let mut lease = self.connections().lease_for(purpose, ends).await?;
            lease.begin_snapshot(ends).await?;
            Ok(lease)
        };
        let lease = begun.await.map_err(Failure::into_store_error)?;
        Ok(Box::new(Snapshot { lease, ends }))
    }

    async fn apply(&self, change: ClickChange, ends: Instant) -> Result<Applied, StoreError> {
        match changes::apply(self, change, ends).await {
            // PostgreSQL aborted it in favour of another transaction.
            Err(Failure::Sql(error)) if is_contended(&error) => Ok(Applied::Outdated),
            outcome => outcome.map_err(Failure::into_store_error),
        }
    }

    async fn note_deleted_account(&self, account: AccountId, ends: Instant) -> Result<(), StoreError> {
        retention::note_deleted_account(self, account, ends).await.map_err(Failure::into_store_error)
    }

    async fn delete_last_clicks(
        &self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
        _: Instant,
    ) -> Result<usize, StoreError> {
        let delete = async |connection: &mut &AsyncPgConnection| {
            retention::delete_last_clicks(connection, account, before, at_most).await
        };
        self.upkeep_of_clicks(delete).await
    }
}

/// A read-only transaction on one snapshot.
struct Snapshot {
    lease: Lease,
    ends: Instant,
}

impl Snapshot {
    async fn read<T>(
        &mut self,
        read: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.lease.call(self.ends, read).await.map_err(Failure::into_store_error)
    }
}

#[async_trait]
impl ClickSnapshot for Snapshot {
    async fn waiting_batches(
        &mut self,
        selection: BatchSelection,
        at_most: usize,
    ) -> Result<Vec<BatchHead>, StoreError> {
        self.read(async |connection| inbox::waiting(connection, selection, at_most).await).await
    }

    async fn batch_data(&mut self, batches: &[BatchKey]) -> Result<Vec<(BatchKey, Vec<u8>)>, StoreError> {
        self.read(async |connection| inbox::data(connection, batches).await).await
    }

    async fn segments(
        &mut self,
        days: &[(AccountId, UtcDay)],
        links: Option<LinkRange>,
    ) -> Result<Vec<SegmentHead>, StoreError> {
        self.read(async |connection| segments::heads(connection, days, links).await).await
    }

    async fn segment_data(
        &mut self,
        segments: &[SegmentKey],
    ) -> Result<Vec<(SegmentKey, Vec<u8>)>, StoreError> {
        self.read(async |connection| segments::data(connection, segments).await).await
    }

    async fn pending_days(
        &mut self,
        pending: PendingDays,
        last: UtcDay,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError> {
        self.read(async |connection| days::pending(connection, pending, last, at_most).await).await
    }

    async fn recent_days(&mut self, account: AccountId, since: UtcDay) -> Result<Vec<UtcDay>, StoreError> {
        self.read(async |connection| days::recent(connection, account, since).await).await
    }

    async fn days_before(
        &mut self,
        account: AccountId,
        before: Option<UtcDay>,
        at_most: usize,
    ) -> Result<Vec<DayVersion>, StoreError> {
        self.read(async |connection| days::before(connection, account, before, at_most).await).await
    }

    async fn versions(&mut self, days: &[(AccountId, UtcDay)]) -> Result<Vec<DayVersion>, StoreError> {
        self.read(async |connection| days::versions(connection, days).await).await
    }

    async fn digests(
        &mut self,
        account: AccountId,
        days: &[UtcDay],
        scope: DigestScope,
        bytes: u64,
    ) -> Result<Vec<(UtcDay, Vec<u8>)>, StoreError> {
        self.read(async |connection| digests::of_days(connection, account, days, scope, bytes).await).await
    }

    async fn last_clicks(
        &mut self,
        account: AccountId,
        links: &[LinkId],
    ) -> Result<BTreeMap<LinkId, Timestamp>, StoreError> {
        self.read(async |connection| digests::last_clicks(connection, account, links).await).await
    }

    async fn forgotten(&mut self, accounts: &[AccountId]) -> Result<BTreeSet<AccountId>, StoreError> {
        let accounts = accounts.iter().map(|account| IdBytes::from(*account)).collect();
        let forgotten =
            self.read(async |connection| retention::forgotten(connection, accounts).await).await?;
        Ok(forgotten.into_iter().map(IdBytes::id).collect())
    }
}
