//! Where requests are counted.

use async_trait::async_trait;
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget, Timestamp};

use super::randomness::{Randomness, RandomnessUnavailable};
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

/// A name that nothing else has: of one count that a process keeps of one window, from when it begins the count until
/// it forgets it, or of the counts that a store keeps, from when it begins until it loses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountId(u128);

impl CountId {
    /// One that nothing else has, and from which a process may count on with [`next`](Self::next).
    pub fn random(randomness: &dyn Randomness) -> Result<Self, RandomnessUnavailable> {
        let mut bytes = [0; 16];
        randomness.fill(&mut bytes)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }

    /// One that was stored.
    #[must_use]
    pub const fn from_u128(number: u128) -> Self {
        Self(number)
    }

    /// To be stored.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// The one after this. Who has a random one has all that follow it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// What a process knows of one window that the store may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedElsewhere {
    /// Which count this is.
    pub count: CountId,
    /// Requests that the process admitted without the store, all since it began this count.
    pub alone: u32,
    /// How many of these the store has said it took in.
    pub merged: u32,
    /// How many requests the store once had counted at the least, those in `merged` included. A store that lost its
    /// counts learns them again from it.
    pub in_store: u32,
}

/// A quota store that several nodes share, and that takes in what a node counted while it was away (D19).
#[async_trait]
pub trait MergingQuotaStore: QuotaStore {
    /// Adds what was counted elsewhere to the account's count of the window that `at` lies in, in one atomic step: the
    /// count grows to [`in_store`](CountedElsewhere::in_store) if it is below, and then by what is new: that of
    /// [`alone`](CountedElsewhere::alone) which is neither in [`merged`](CountedElsewhere::merged) nor taken in by an
    /// earlier merge of the same count. So a merge may be repeated when nobody knows whether it was done. The count
    /// never falls, the other window keeps its own, and no budget is asked. Gives the count after it.
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<u32, StoreError>;

    /// Tells whether the store can be written to, by writing something that counts nothing, and gives the name of its
    /// counts: `proposed` if they had none, and the same each time until it loses them. A store of several parts that
    /// fail by themselves says it of one of them.
    async fn try_write(&self, proposed: CountId) -> Result<CountId, StoreError>;
}

/// A quota store that nodes share, beside the database, and that this node can do without.
#[async_trait]
pub trait SharedQuotaStore: Send + Sync {
    /// Whether it can be counted in, for health checks (D63). Says so within 100 ms.
    async fn answers(&self) -> bool;
}
