//! The contract suite, on a Redis server and on a Redis Cluster.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::{MergingQuotaStore, QuotaStore};
use signpost_domain::AccountId;
use signpost_memory::ManualClock;
use signpost_port_contracts::{QuotaFixture, samples};
use signpost_redis::{RedisOptions, RedisQuotaStore};

/// The server lives as long as the tests. Each case has its own accounts, so all cases share it.
struct Fixture {
    url: String,
    store: Arc<RedisQuotaStore>,
}

impl Fixture {
    fn open(url: String) -> Self {
        let options =
            RedisOptions { time_limit: std::time::Duration::from_secs(20), ..RedisOptions::default() };
        let store =
            RedisQuotaStore::open(url.parse().unwrap(), options, Arc::new(ManualClock::new(samples::at(0))))
                .unwrap();
        Self { url, store: Arc::new(store) }
    }
}

#[async_trait]
impl QuotaFixture for Fixture {
    fn quota(&self) -> Arc<dyn QuotaStore> {
        self.store.clone()
    }

    async fn account(&self) -> AccountId {
        samples::id()
    }

    async fn reopen(self) -> Self {
        let Self { url, store } = self;
        drop(store);
        Self::open(url)
    }
}

mod on_a_server {
    use std::sync::OnceLock;

    use signpost_test_servers::redis::RedisServer;

    use super::{Arc, Fixture, MergingQuotaStore};

    async fn fresh_quota() -> Fixture {
        static SERVER: OnceLock<RedisServer> = OnceLock::new();
        Fixture::open(SERVER.get_or_init(|| RedisServer::start("crates/redis")).url(0))
    }

    async fn merging_quota() -> Arc<dyn MergingQuotaStore> {
        fresh_quota().await.store
    }

    signpost_port_contracts::quota_contract!(fresh_quota);
    signpost_port_contracts::quota_merging_contract!(merging_quota);
}

mod on_a_cluster {
    use std::sync::OnceLock;

    use signpost_test_servers::redis::RedisCluster;

    use super::{Arc, Fixture, MergingQuotaStore};

    async fn fresh_quota() -> Fixture {
        static CLUSTER: OnceLock<RedisCluster> = OnceLock::new();
        Fixture::open(CLUSTER.get_or_init(|| RedisCluster::start("crates/redis")).url())
    }

    async fn merging_quota() -> Arc<dyn MergingQuotaStore> {
        fresh_quota().await.store
    }

    signpost_port_contracts::quota_contract!(fresh_quota);
    signpost_port_contracts::quota_merging_contract!(merging_quota);
}
