//! The implementation of the click store port.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use diesel_async::AsyncPgConnection;
use signpost_app::ports::{Appended, ClickStore, EncodedClicks, OldClicks, Packed, StoreError, Upkeep};
use signpost_domain::analytics::{
    ClickId, ClickSelection, ExportedClick, PlannedDeletion, Question, RecentClicks, Report, UtcDay,
    VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::segments::Until;
use super::{answers, digests, exports, inbox, packing, recent, retention, visitor_keys};
use crate::connections::end_of_call;
use crate::failure::{Failure, is_contended};
use crate::permits::Purpose;
use crate::store::PostgresStore;

impl PostgresStore {
    /// Runs one short call about clicks, which waits neither for questions nor for upkeep.
    async fn about_clicks<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections().call(Purpose::ClickAppend, call).await.map_err(Failure::into_store_error)
    }

    /// Runs one call of upkeep.
    async fn upkeep_of_clicks<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections().call(Purpose::ClickUpkeep, call).await.map_err(Failure::into_store_error)
    }
}

/// The outcome of an upkeep step. A step that PostgreSQL aborted in favour of another transaction is repeated.
fn step<T>(outcome: Result<T, Failure>, again: T) -> Result<T, StoreError> {
    match outcome {
        Err(Failure::Sql(error)) if is_contended(&error) => Ok(again),
        outcome => outcome.map_err(Failure::into_store_error),
    }
}

#[async_trait]
impl ClickStore for PostgresStore {
    async fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        self.about_clicks(async |connection| inbox::append(connection, batch).await).await
    }

    async fn answer(&self, question: &Question, deadline: Instant) -> Result<Report, StoreError> {
        let waiting = Arc::new(());
        let until = Until::new(deadline, &waiting);
        answers::answer(self, question, &until).await.map_err(Failure::into_store_error)
    }

    async fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError> {
        let waiting = Arc::new(());
        let until = Until::new(deadline, &waiting);
        exports::clicks(self, selection, (after, at_most), &until).await.map_err(Failure::into_store_error)
    }

    async fn recent_clicks(
        &self,
        account: AccountId,
        links: &[LinkId],
        since: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError> {
        let waiting = Arc::new(());
        let until = Until::new(end_of_call(self.time_limit()), &waiting);
        let recent = recent::recent_clicks(self, account, links, since, &until);
        recent.await.map_err(Failure::into_store_error)
    }

    async fn visitor_key(&self, day: UtcDay, proposed: VisitorKey) -> Result<VisitorKey, StoreError> {
        self.about_clicks(async |connection| visitor_keys::of_day(connection, day, &proposed).await).await
    }

    async fn forget_visitor_keys(&self, day: UtcDay) -> Result<(), StoreError> {
        self.about_clicks(async |connection| visitor_keys::forget_before(connection, day).await).await
    }

    async fn pack(&self, now: Timestamp) -> Result<Packed, StoreError> {
        step(packing::pack(self, now).await, Packed { upkeep: Upkeep::More, dropped: 0 })
    }

    async fn digest(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        step(digests::digest(self, now).await, Upkeep::More)
    }

    async fn seal(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        step(digests::seal_days(self, now).await, Upkeep::More)
    }

    /// By the server's clock.
    async fn today(&self, _: Timestamp) -> Result<UtcDay, StoreError> {
        self.upkeep_of_clicks(async |connection| retention::today(connection).await).await
    }

    async fn accounts_with_clicks_before(
        &self,
        day: UtcDay,
        after: Option<AccountId>,
        at_most: usize,
    ) -> Result<Vec<AccountId>, StoreError> {
        let accounts = async |connection: &mut &AsyncPgConnection| {
            retention::accounts_with_clicks_before(connection, day, after, at_most).await
        };
        self.upkeep_of_clicks(accounts).await
    }

    async fn old_clicks(&self, account: AccountId, day: UtcDay) -> Result<Option<OldClicks>, StoreError> {
        self.upkeep_of_clicks(async |connection| retention::old_clicks(connection, account, day).await).await
    }

    async fn planned_deletion(&self, account: AccountId) -> Result<Option<PlannedDeletion>, StoreError> {
        self.upkeep_of_clicks(async |connection| retention::planned(connection, account).await).await
    }

    async fn plan_deletion(
        &self,
        account: AccountId,
        planned: Option<PlannedDeletion>,
    ) -> Result<(), StoreError> {
        self.upkeep_of_clicks(async |connection| retention::plan(connection, account, planned).await).await
    }

    async fn forget_clicks(&self, account: AccountId, day: Option<UtcDay>) -> Result<Upkeep, StoreError> {
        step(retention::forget(self, account, day).await, Upkeep::More)
    }
}
