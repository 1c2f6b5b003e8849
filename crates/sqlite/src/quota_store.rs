//! Counting requests (D16), on the store's threads.

use async_trait::async_trait;
use signpost_app::ports::{CountId, CountedElsewhere, MergingQuotaStore, QuotaStore, StoreError};
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget, Timestamp};

use crate::merged_counts;
use crate::request_counts;
use crate::store::SqliteStore;

#[async_trait]
impl QuotaStore for SqliteStore {
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        self.writer().admit(account, budget, now).await
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        let used =
            self.readers().read(move |connection| request_counts::used(connection, account, now)).await?;
        Ok(budget.remaining(used))
    }
}

#[async_trait]
impl MergingQuotaStore for SqliteStore {
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<u32, StoreError> {
        self.write(move |connection| merged_counts::merge(connection, account, window, at, counted)).await
    }

    /// The counts have a name from the start, so no proposal is taken.
    async fn try_write(&self, _proposed: CountId) -> Result<CountId, StoreError> {
        self.write(merged_counts::try_write).await
    }
}
