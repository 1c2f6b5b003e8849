//! A quota store that fails as it is told.

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
pub(crate) enum Mood {
    Answers,
    Refuses,
    /// It takes what it is told and never answers.
    Hangs,
    /// It counts at once, and its answer takes so long.
    IsSlow(Duration),
    /// It counts this account's requests at once, and its answers about it take so long.
    IsSlowOnlyWith(AccountId, Duration),
    /// It can be read.
    IsReadOnly,
    /// As a cluster of which a part is away.
    RefusesOnly(AccountId),
    /// What it has of any account is corrupt.
    IsCorrupt,
    /// It takes whoever asks with it.
    Panics,
}

/// Keeps its counts whatever its mood.
pub(crate) struct FailingStore {
    counts: Mutex<Arc<MemoryQuotaStore>>,
    mood: Mutex<Mood>,
    pub(crate) admissions: AtomicU32,
    pub(crate) merges: AtomicU32,
    pub(crate) tries: AtomicU32,
}

impl FailingStore {
    /// A store that answers, and one that falls back before it.
    pub(crate) fn behind_a_fallback() -> (Arc<Self>, FallbackQuotaStore) {
        let store = Arc::new(Self {
            counts: Mutex::default(),
            mood: Mutex::new(Mood::Answers),
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

    pub(crate) fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    pub(crate) fn loses_its_counts(&self) {
        *self.counts.lock().unwrap() = Arc::default();
    }

    /// As a replica does that takes over and lags behind: its counts are gone and still have their name.
    pub(crate) async fn loses_its_counts_unnoticed(&self) {
        let name = self.counts().try_write(CountId::from_u128(0)).await.unwrap();
        self.loses_its_counts();
        self.counts().try_write(name).await.unwrap();
    }

    /// What it has counted, whatever its mood.
    pub(crate) async fn used(&self, account: AccountId, now: Timestamp) -> (u32, u32) {
        let all = RequestBudget { per_minute: u32::MAX, per_day: u32::MAX };
        let left = self.counts().remaining(account, all, now).await.unwrap();
        (u32::MAX - left.minute, u32::MAX - left.day)
    }

    fn counts(&self) -> Arc<MemoryQuotaStore> {
        self.counts.lock().unwrap().clone()
    }

    fn counts_first(&self) -> bool {
        matches!(*self.mood.lock().unwrap(), Mood::IsSlow(_) | Mood::IsSlowOnlyWith(..))
    }

    /// What comes before the answer.
    async fn mood(&self, account: AccountId, writes: bool) -> Result<(), StoreError> {
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::IsReadOnly if writes => Err(StoreError::unwritable("read-only")),
            Mood::RefusesOnly(some) if some == account => Err(StoreError::unavailable("connection refused")),
            Mood::IsSlowOnlyWith(some, duration) if some == account => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Mood::Answers | Mood::IsReadOnly | Mood::RefusesOnly(_) | Mood::IsSlowOnlyWith(..) => Ok(()),
            Mood::Refuses => Err(StoreError::unavailable("connection refused")),
            Mood::Hangs => std::future::pending().await,
            Mood::IsSlow(duration) => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Mood::IsCorrupt => Err(StoreError::Corrupt {
                table: "t",
                column: "c",
                row: String::new(),
                reason: "is a poem".to_owned(),
            }),
            Mood::Panics => panic!("as it was told"),
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
            self.mood(account, true).await?;
            return decision;
        }
        self.mood(account, true).await?;
        self.counts().admit(account, budget, now).await
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        self.mood(account, false).await?;
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
            self.mood(account, true).await?;
            return merged;
        }
        self.mood(account, true).await?;
        self.counts().merge(account, window, at, counted).await
    }

    async fn try_write(&self, proposed: CountId) -> Result<CountId, StoreError> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        let nobody = AccountId::from_bytes([0; 16]);
        self.mood(nobody, true).await?;
        self.counts().try_write(proposed).await
    }
}
