//! Quota windows in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use signpost_app::ports::{CountedElsewhere, MergingQuotaStore, QuotaStore, StoreError};
use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};

/// Counts requests by account and window (D16). Every window is kept for good, so that a clock may step back
/// as far as it likes; what counts for a long time would have to forget.
#[derive(Debug, Default)]
pub struct MemoryQuotaStore {
    counts: Mutex<HashMap<Key, u32>>,
    is_unavailable: AtomicBool,
}

type Key = (AccountId, QuotaWindow, Timestamp);

impl MemoryQuotaStore {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on every call fails with [`StoreError::Unavailable`], or works again.
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
    ) -> Result<(), StoreError> {
        let CountedElsewhere { missing, at_least } = counted;
        self.with_counts(|counts| {
            let count = counts.entry(key(account, window, at)).or_insert(0);
            *count = count.saturating_add(missing).max(at_least);
        })
    }
}
