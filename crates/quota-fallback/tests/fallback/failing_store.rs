//! A quota store with configurable failures.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{CountId, CountedElsewhere, MergingQuotaStore, QuotaStore, StoreError};
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget, Timestamp};
use signpost_memory::MemoryQuotaStore;
use signpost_quota_fallback::{FallbackOptions, FallbackQuotaStore};
use tokio::runtime::Handle;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Behavior {
    Answers,
    Refuses,
    /// It never answers.
    Hangs,
    /// It counts at once, and answers after this delay.
    IsSlow(Duration),
    /// It counts this account's requests at once, and answers about it after this delay.
    IsSlowOnlyWith(AccountId, Duration),
    /// It is read-only.
    IsReadOnly,
    /// Like a cluster with one part down.
    RefusesOnly(AccountId),
    /// All of its counts are corrupt.
    IsCorrupt,
    /// It panics in the caller.
    Panics,
}

/// A store that keeps its counts whatever its behavior.
pub(crate) struct FailingStore {
    counts: Mutex<Arc<MemoryQuotaStore>>,
    behavior: Mutex<Behavior>,
    pub(crate) admissions: AtomicU32,
    pub(crate) merges: AtomicU32,
    pub(crate) tries: AtomicU32,
}

impl FailingStore {
    /// A working store, and a fallback that wraps it.
    pub(crate) fn behind_a_fallback() -> (Arc<Self>, FallbackQuotaStore) {
        let store = Arc::new(Self {
            counts: Mutex::default(),
            behavior: Mutex::new(Behavior::Answers),
            admissions: AtomicU32::new(0),
            merges: AtomicU32::new(0),
            tries: AtomicU32::new(0),
        });
        let quota = store.another_node();
        (store, quota)
    }

    pub(crate) fn another_node(self: &Arc<Self>) -> FallbackQuotaStore {
        static NODES: AtomicU64 = AtomicU64::new(0);
        let first = CountId::from_u128(u128::from(NODES.fetch_add(1, Ordering::Relaxed)) << 64);
        let store: Arc<dyn MergingQuotaStore> = self.clone();
        FallbackQuotaStore::new(store, FallbackOptions::default(), first, Handle::current())
    }

    pub(crate) fn set_behavior(&self, behavior: Behavior) {
        *self.behavior.lock().unwrap() = behavior;
    }

    pub(crate) fn loses_its_counts(&self) {
        *self.counts.lock().unwrap() = Arc::default();
    }

    /// Like a lagging replica that takes over: its counts are gone, but their name is unchanged.
    pub(crate) async fn loses_its_counts_unnoticed(&self) {
        let name = self.counts().try_write(CountId::from_u128(0)).await.unwrap();
        self.loses_its_counts();
        self.counts().try_write(name).await.unwrap();
    }

    /// Its counts, whatever its behavior.
    pub(crate) async fn used(&self, account: AccountId, now: Timestamp) -> (u32, u32) {
        let all = RequestBudget { per_minute: u32::MAX, per_day: u32::MAX };
        let left = self.counts().remaining(account, all, now).await.unwrap();
        (u32::MAX - left.minute, u32::MAX - left.day)
    }

    fn counts(&self) -> Arc<MemoryQuotaStore> {
        self.counts.lock().unwrap().clone()
    }

    fn counts_first(&self) -> bool {
        matches!(*self.behavior.lock().unwrap(), Behavior::IsSlow(_) | Behavior::IsSlowOnlyWith(..))
    }

    /// The configured behavior before an answer.
    async fn behavior(&self, account: AccountId, writes: bool) -> Result<(), StoreError> {
        let behavior = *self.behavior.lock().unwrap();
        match behavior {
            Behavior::IsReadOnly if writes => Err(StoreError::unwritable("read-only")),
            Behavior::RefusesOnly(some) if some == account => {
                Err(StoreError::unavailable("connection refused"))
            }
            Behavior::IsSlowOnlyWith(some, duration) if some == account => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Behavior::Answers
            | Behavior::IsReadOnly
            | Behavior::RefusesOnly(_)
            | Behavior::IsSlowOnlyWith(..) => Ok(()),
            Behavior::Refuses => Err(StoreError::unavailable("connection refused")),
            Behavior::Hangs => std::future::pending().await,
            Behavior::IsSlow(duration) => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Behavior::IsCorrupt => Err(StoreError::Corrupt {
                table: "t",
                column: "c",
                row: String::new(),
                reason: "is not a number".to_owned(),
            }),
            Behavior::Panics => panic!("as configured"),
        }
    }
}

#[async_trait]
impl QuotaStore for FailingStore {
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        self.admissions.fetch_add(1, Ordering::SeqCst);
        if self.counts_first() {
            let decision = self.counts().admit(account, budget, now).await;
            self.behavior(account, true).await?;
            return decision;
        }
        self.behavior(account, true).await?;
        self.counts().admit(account, budget, now).await
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        self.behavior(account, false).await?;
        self.counts().remaining(account, budget, now).await
    }
}

#[async_trait]
impl MergingQuotaStore for FailingStore {
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<u32, StoreError> {
        self.merges.fetch_add(1, Ordering::SeqCst);
        if self.counts_first() {
            let merged = self.counts().merge(account, window, at, counted).await;
            self.behavior(account, true).await?;
            return merged;
        }
        self.behavior(account, true).await?;
        self.counts().merge(account, window, at, counted).await
    }

    async fn try_write(&self, proposed: CountId) -> Result<CountId, StoreError> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        let nobody = AccountId::from_bytes([0; 16]);
        self.behavior(nobody, true).await?;
        self.counts().try_write(proposed).await
    }
}
