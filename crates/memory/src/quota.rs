//! Quota windows in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use signpost_app::ports::{CountId, CountedElsewhere, MergingQuotaStore, QuotaStore, StoreError};
use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};

/// Counts requests by account and window (D16). It keeps every window forever, so that a clock may step back any distance; a
/// real store has to delete old ones.
#[derive(Debug, Default)]
pub struct MemoryQuotaStore {
    counts: Mutex<HashMap<Key, u32>>,
    /// How much of each count of another node is included here.
    taken_in: Mutex<HashMap<(Key, u128), u32>>,
    name: Mutex<Option<CountId>>,
    is_unavailable: AtomicBool,
}

type Key = (AccountId, QuotaWindow, Timestamp);

impl MemoryQuotaStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes every call fail with [`StoreError::Unavailable`], or work again.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.is_unavailable.store(is_unavailable, Ordering::SeqCst);
    }

    fn with_counts<T>(&self, f: impl FnOnce(&mut HashMap<Key, u32>) -> T) -> Result<T, StoreError> {
        if self.is_unavailable.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("the quota store is switched off"));
        }
        Ok(f(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn key(account: AccountId, window: QuotaWindow, now: Timestamp) -> Key {
    (account, window, window.start(now))
}

fn used(counts: &HashMap<Key, u32>, account: AccountId, now: Timestamp) -> QuotaUse {
    let of = |window| counts.get(&key(account, window, now)).copied().unwrap_or(0);
    QuotaUse { minute: of(QuotaWindow::Minute), day: of(QuotaWindow::Day) }
}

#[async_trait]
impl QuotaStore for MemoryQuotaStore {
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        self.with_counts(|counts| {
            let decision = budget.decide(used(counts, account, now));
            match decision {
                QuotaDecision::Admitted { remaining: _ } => {
                    for window in [QuotaWindow::Minute, QuotaWindow::Day] {
                        *counts.entry(key(account, window, now)).or_insert(0) += 1;
                    }
                }
                QuotaDecision::Exhausted { window: _, remaining: _ } => {}
            }
            decision
        })
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        self.with_counts(|counts| budget.remaining(used(counts, account, now)))
    }
}

#[async_trait]
impl MergingQuotaStore for MemoryQuotaStore {
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<u32, StoreError> {
        let CountedElsewhere { count: id, alone, merged, in_store } = counted;
        let key = key(account, window, at);
        self.with_counts(|counts| {
            let mut taken_in = self.taken_in.lock().unwrap_or_else(PoisonError::into_inner);
            let taken_in = taken_in.entry((key, id.as_u128())).or_insert(0);
            *taken_in = (*taken_in).max(merged);
            let new = alone.saturating_sub(*taken_in);
            *taken_in = taken_in.saturating_add(new);
            let count = counts.entry(key).or_insert(0);
            *count = (*count).max(in_store).saturating_add(new);
            *count
        })
    }

    async fn try_write(&self, proposed: CountId) -> Result<CountId, StoreError> {
        self.with_counts(|_| {
            *self.name.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(proposed)
        })
    }
}
