//! The contract suite, in front of a store that works. The other tests use stores that fail.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::{CountId, QuotaStore};
use signpost_domain::AccountId;
use signpost_memory::MemoryQuotaStore;
use signpost_port_contracts::{QuotaFixture, samples};
use signpost_quota_fallback::{FallbackOptions, FallbackQuotaStore};
use tokio::runtime::Handle;

/// The wrapped store keeps the counts, so they survive reopening.
struct Fixture {
    behind: Arc<MemoryQuotaStore>,
    quota: Arc<FallbackQuotaStore>,
}

impl Fixture {
    fn before(behind: Arc<MemoryQuotaStore>) -> Self {
        let options = FallbackOptions::default();
        let quota =
            FallbackQuotaStore::new(behind.clone(), options, CountId::from_u128(0), Handle::current());
        Self { behind, quota: Arc::new(quota) }
    }
}

#[async_trait]
impl QuotaFixture for Fixture {
    fn quota(&self) -> Arc<dyn QuotaStore> {
        self.quota.clone()
    }

    async fn account(&self) -> AccountId {
        samples::id()
    }

    async fn reopen(self) -> Self {
        let Self { behind, quota } = self;
        drop(quota);
        Self::before(behind)
    }
}

async fn fresh_quota() -> Fixture {
    Fixture::before(Arc::default())
}

signpost_port_contracts::quota_contract!(fresh_quota);
