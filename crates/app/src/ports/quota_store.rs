//! Counting requests.

use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget, Timestamp};

use super::environment::{Randomness, RandomnessUnavailable};
use super::store_error::StoreError;

/// Counts the requests of each account in the calendar minute and the calendar day (D16).
///
/// Counts are stored by the start of their window, so that a clock that steps back finds the old count again. They survive a
/// restart of the process. The store may delete a count two days after its window ended. A clock that steps back further
/// starts the window with a new count.
#[async_trait]
pub trait QuotaStore: Send + Sync {
    /// Decides on one request as [`RequestBudget::decide`] does, and counts it if it is admitted, in one atomic step and one
    /// round trip. Of K concurrent requests with R left, exactly min(K, R) are admitted. A refused request counts in neither
    /// window.
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError>;

    /// The remaining budget. It counts nothing.
    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError>;
}

/// A globally unique identifier, either of one count or of the counts of a store.
///
/// A process gives one to each count of a window, which lasts until the process drops the count. A store has one for all its
/// counts, which lasts until it loses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountId(u128);

impl CountId {
    /// A new random identifier. A process may derive more of them with [`next`](Self::next).
    pub fn random(randomness: &dyn Randomness) -> Result<Self, RandomnessUnavailable> {
        let mut bytes = [0; 16];
        randomness.fill(&mut bytes)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }

    /// The identifier that was stored as this number.
    #[must_use]
    pub const fn from_u128(number: u128) -> Self {
        Self(number)
    }

    /// The number to store.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// The next identifier. A process that owns a random identifier owns all that follow it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// A process's count of one window, which the store may not have yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedElsewhere {
    /// The identifier of this count.
    pub count: CountId,
    /// All requests that the process admitted without the store since it began this count.
    pub alone: u32,
    /// How many of these the store has confirmed as merged.
    pub merged: u32,
    /// The lowest possible count of the store, as last known, including `merged`. It restores the count of a store that lost
    /// its counts.
    pub in_store: u32,
}

/// A quota store that several nodes share. A node counts alone while it is unreachable, and merges its counts later (D19).
#[async_trait]
pub trait MergingQuotaStore: QuotaStore {
    /// Merges a process's count into the account's count of the window that contains `at`, in one atomic step.
    ///
    /// First it raises the count to [`in_store`](CountedElsewhere::in_store) if it is lower. Then it adds the part of
    /// [`alone`](CountedElsewhere::alone) that is neither in [`merged`](CountedElsewhere::merged) nor added by an earlier merge
    /// of the same count. So a merge whose reply was lost can be repeated. The count never falls. The other window does not
    /// change, and the budget is not checked. Returns the new count.
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<u32, StoreError>;

    /// Checks that the store can be written, by a write that counts nothing, and returns the identifier of its counts. This is
    /// `proposed` if they had none, and stays the same until the store loses its counts. If the store has several parts that
    /// fail independently, it checks one of them.
    async fn try_write(&self, proposed: CountId) -> Result<CountId, StoreError>;
}

/// A quota store outside the database that nodes share. This node works without it, too.
#[async_trait]
pub trait SharedQuotaStore: Send + Sync {
    /// Whether the store is usable, for health checks (D63). It returns within 100 ms.
    async fn answers(&self) -> bool;

    /// The last failure since the start of the program: how long ago it was, and what happened.
    fn last_failure(&self) -> Option<(Duration, String)>;
}
