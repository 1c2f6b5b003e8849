//! The contract suites of the ports, on the fakes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{
    ClickStore, Clock, DnsProvider, IdSource, MergingQuotaStore, NodeReports, QuotaStore, Randomness, Store,
};
use signpost_domain::AccountId;
use signpost_memory::{
    FakeDns, ManualClock, MemoryClickStore, MemoryQuotaStore, MemoryStore, SeededRandomness, SequentialIds,
};
use signpost_port_contracts::dns::Record;
use signpost_port_contracts::{
    ClickFixture, DnsFixture, NodeReportsFixture, QuotaFixture, StoreFixture, samples,
};

/// Memory cannot be closed and reopened, so the data simply stays.
struct StoreInMemory(MemoryStore);

#[async_trait]
impl StoreFixture for StoreInMemory {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn reopen(self) -> Self {
        self
    }
}

async fn fresh_store(time_limit: Duration) -> StoreInMemory {
    StoreInMemory(MemoryStore::with_time_limit(time_limit))
}

struct QuotaInMemory(Arc<MemoryQuotaStore>);

#[async_trait]
impl QuotaFixture for QuotaInMemory {
    fn quota(&self) -> Arc<dyn QuotaStore> {
        Arc::<MemoryQuotaStore>::clone(&self.0)
    }

    async fn account(&self) -> AccountId {
        samples::id()
    }

    async fn reopen(self) -> Self {
        self
    }
}

async fn fresh_quota() -> QuotaInMemory {
    QuotaInMemory(Arc::default())
}

async fn merging_quota() -> Arc<dyn MergingQuotaStore> {
    Arc::<MemoryQuotaStore>::default()
}

struct ClicksInMemory(Arc<MemoryClickStore>);

#[async_trait]
impl ClickFixture for ClicksInMemory {
    fn clicks(&self) -> Arc<dyn ClickStore> {
        Arc::<MemoryClickStore>::clone(&self.0)
    }

    async fn reopen(self) -> Self {
        self
    }
}

async fn fresh_clicks() -> ClicksInMemory {
    ClicksInMemory(Arc::default())
}

struct ReportsInMemory {
    store: MemoryStore,
    clock: Arc<ManualClock>,
}

#[async_trait]
impl NodeReportsFixture for ReportsInMemory {
    fn reports(&self) -> Arc<dyn NodeReports> {
        Arc::new(self.store.clone())
    }

    async fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }
}

async fn fresh_reports() -> ReportsInMemory {
    let clock = Arc::new(ManualClock::default());
    let now: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
    ReportsInMemory { store: MemoryStore::on_clock(now), clock }
}

struct DnsInMemory(Arc<FakeDns>);

impl DnsFixture for DnsInMemory {
    fn dns(&self) -> Arc<dyn DnsProvider> {
        Arc::<FakeDns>::clone(&self.0)
    }

    fn set(&self, name: &str, records: Vec<Record>) {
        let (mut texts, mut addresses, mut caa, mut alias) = (Vec::new(), Vec::new(), Vec::new(), None);
        for record in records {
            match record {
                Record::Txt(strings) => texts.push(String::from_utf8_lossy(&strings.concat()).into_owned()),
                Record::Address(address) => addresses.push(address),
                Record::Alias(target) => alias = Some(target),
                Record::Caa(record) => caa.push(record),
            }
        }
        self.0.set_texts(name, texts);
        self.0.set_addresses(name, addresses);
        self.0.set_caa(name, caa);
        if let Some(target) = alias {
            self.0.set_alias(name, &target);
        }
    }

    fn remove(&self, name: &str) {
        self.0.remove(name);
    }

    fn set_unavailable(&self, is_unavailable: bool) {
        self.0.set_unavailable(is_unavailable);
    }
}

async fn fresh_dns() -> DnsInMemory {
    DnsInMemory(Arc::default())
}

fn ids_of_another_node(clock: Arc<dyn Clock>) -> Arc<dyn IdSource> {
    static NODES: AtomicU16 = AtomicU16::new(0);
    Arc::new(SequentialIds::of_node(NODES.fetch_add(1, Ordering::Relaxed), clock))
}

fn seeded_randomness() -> Arc<dyn Randomness> {
    Arc::new(SeededRandomness::new(7))
}

signpost_port_contracts::store_contract!(fresh_store);
signpost_port_contracts::click_contract!(fresh_clicks);
signpost_port_contracts::quota_contract!(fresh_quota);
signpost_port_contracts::quota_merging_contract!(merging_quota);
signpost_port_contracts::node_reports_contract!(fresh_reports);
signpost_port_contracts::dns_contract!(fresh_dns);
signpost_port_contracts::id_source_contract!(ids_of_another_node);
signpost_port_contracts::randomness_contract!(seeded_randomness);
