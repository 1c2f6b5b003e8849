//! Where requests are counted.

use async_trait::async_trait;
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget, Timestamp};

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

/// What a node knows of one window that the store may not know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountedElsewhere {
    /// Requests that were admitted without the store.
    pub missing: u32,
    /// How many were admitted at the least, those that are missing included. A store that lost its counts learns them
    /// again from it.
    pub at_least: u32,
}

/// A quota store that several nodes share, and that takes in what a node counted while it was away (D19).
#[async_trait]
pub trait MergingQuotaStore: QuotaStore {
    /// Adds what was counted elsewhere to the account's count of the window that `at` lies in, in one atomic step: the
    /// count grows by [`missing`](CountedElsewhere::missing), and to [`at_least`](CountedElsewhere::at_least) if it is
    /// still below. It never falls, the other window keeps its count, and no budget is asked. With nothing to add it
    /// still tells whether the store can be written to.
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<(), StoreError>;
}

/// A quota store that nodes share, beside the database, and that this node can do without.
#[async_trait]
pub trait SharedQuotaStore: Send + Sync {
    /// Whether it can be counted in, for health checks (D63). Says so within 100 ms.
    async fn answers(&self) -> bool;
}
