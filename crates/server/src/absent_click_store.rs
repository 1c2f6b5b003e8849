//! The click store of a program that has none: clicks are neither kept nor counted.

use std::time::Instant;

use async_trait::async_trait;
use signpost_app::ports::{Appended, ClickStore, EncodedClicks, StoreError, Upkeep};
use signpost_domain::analytics::{
    ClickId, ClickSelection, ExportedClick, Question, RecentClicks, Report, UtcDay, VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

/// Fails every call, so that analytics are temporarily unavailable.
pub(crate) struct AbsentClickStore;

fn absent<T>() -> Result<T, StoreError> {
    Err(StoreError::unavailable("there is no click store"))
}

#[async_trait]
impl ClickStore for AbsentClickStore {
    async fn append(&self, _: &EncodedClicks) -> Result<Appended, StoreError> {
        absent()
    }

    async fn answer(&self, _: &Question, _: Instant) -> Result<Report, StoreError> {
        absent()
    }

    async fn clicks(
        &self,
        _: &ClickSelection,
        _: Option<ClickId>,
        _: usize,
        _: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError> {
        absent()
    }

    async fn recent_clicks(
        &self,
        _: AccountId,
        _: &[LinkId],
        _: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError> {
        absent()
    }

    async fn visitor_key(&self, _: UtcDay, _: VisitorKey) -> Result<VisitorKey, StoreError> {
        absent()
    }

    async fn forget_visitor_keys(&self, _: UtcDay) -> Result<(), StoreError> {
        absent()
    }

    async fn pack(&self, _: Timestamp) -> Result<Upkeep, StoreError> {
        absent()
    }

    async fn digest(&self, _: Timestamp) -> Result<Upkeep, StoreError> {
        absent()
    }

    async fn seal(&self, _: Timestamp) -> Result<Upkeep, StoreError> {
        absent()
    }

    async fn accounts_with_clicks_before(
        &self,
        _: UtcDay,
        _: Option<AccountId>,
        _: usize,
    ) -> Result<Vec<AccountId>, StoreError> {
        absent()
    }

    async fn forget_clicks(&self, _: AccountId, _: Option<UtcDay>) -> Result<Upkeep, StoreError> {
        absent()
    }
}
