//! The implementation of the click store port.

use std::time::Instant;

use async_trait::async_trait;
use diesel_async::AsyncPgConnection;
use signpost_app::ports::{Appended, ClickStore, EncodedClicks, OldClicks, Packed, StoreError, Upkeep};
use signpost_domain::analytics::{
    ClickId, ClickSelection, ExportedClick, PlannedDeletion, Question, RecentClicks, Report, UtcDay,
    VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::{inbox, retention, visitor_keys};
use crate::failure::Failure;
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
    pub(super) async fn upkeep_of_clicks<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections().call(Purpose::ClickUpkeep, call).await.map_err(Failure::into_store_error)
    }
}

#[async_trait]
impl ClickStore for PostgresStore {
    async fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        self.about_clicks(async |connection| inbox::append(connection, batch).await).await
    }

    async fn answer(&self, question: &Question, deadline: Instant) -> Result<Report, StoreError> {
        signpost_click_store::answer(self, question, deadline).await
    }

    async fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError> {
        signpost_click_store::clicks(self, selection, after, at_most, deadline).await
    }

    async fn recent_clicks(
        &self,
        account: AccountId,
        links: &[LinkId],
        since: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError> {
        signpost_click_store::recent_clicks(self, account, links, since).await
    }

    async fn visitor_key(&self, day: UtcDay, proposed: VisitorKey) -> Result<VisitorKey, StoreError> {
        self.about_clicks(async |connection| visitor_keys::of_day(connection, day, &proposed).await).await
    }

    async fn forget_visitor_keys(&self, day: UtcDay) -> Result<(), StoreError> {
        self.about_clicks(async |connection| visitor_keys::forget_before(connection, day).await).await
    }

    async fn pack(&self, now: Timestamp) -> Result<Packed, StoreError> {
        signpost_click_store::pack(self, now).await
    }

    async fn digest(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        signpost_click_store::digest(self, now).await
    }

    async fn seal(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        signpost_click_store::seal(self, now).await
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
        signpost_click_store::forget(self, account, day).await
    }
}
