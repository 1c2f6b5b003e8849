//! Where requests are counted.

use async_trait::async_trait;
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, RequestBudget, Timestamp};

use super::store_error::StoreError;

/// Counts the requests of each account in the calendar minute and the calendar day (D16).
///
/// Counts are kept by the start of their window, so that a clock that steps back finds the old count again,
/// and they survive a restart of the process. A count may be forgotten two days after its window ended; a clock
/// that steps back further than that opens the window anew.
#[async_trait]
pub trait QuotaStore: Send + Sync {
    /// Decides on one request as [`RequestBudget::decide`] does and counts it if it is admitted, both in one
    /// atomic step and one round trip: of K concurrent requests with R left, exactly min(K, R) are admitted.
    /// A refused request counts in neither window.
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError>;

    /// What is left, without counting.
    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError>;
}
