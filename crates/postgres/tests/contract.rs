//! The contract suites on PostgreSQL.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "the store itself is tested, without use cases")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{ClickStore, NodeReports, QuotaStore, Store};
use signpost_click_store::ClickTables;
use signpost_domain::AccountId;
use signpost_port_contracts::click_tables::ClickTablesFixture;
use signpost_port_contracts::{ClickFixture, NodeReportsFixture, QuotaFixture, StoreFixture, samples};
use signpost_postgres::{OpenError, PostgresOptions, PostgresStore, migrate};
use signpost_test_servers::postgres::{self, PostgresDatabase};

struct Fixture {
    store: Arc<PostgresStore>,
    database: PostgresDatabase,
    options: PostgresOptions,
}

/// A migrated database without connections, the template of the tests' databases.
fn template() -> &'static PostgresDatabase {
    static TEMPLATE: OnceLock<PostgresDatabase> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let database = postgres::shared("crates/postgres").database(None);
        let url = database.url();
        // On a separate thread, because the first test already runs in a runtime.
        let migrate = move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(migrate(&url)).unwrap();
        };
        std::thread::spawn(migrate).join().unwrap();
        database
    })
}

async fn open(time_limit: Duration) -> Fixture {
    let database = postgres::shared("crates/postgres").database(Some(template().name()));
    let options = PostgresOptions::with_time_limit(time_limit);
    let store = connected(&database, &options).await;
    Fixture { store, database, options }
}

/// A store on the database. Tries again, because some cases choose a time limit that the first contact may reach on a busy
/// machine.
async fn connected(database: &PostgresDatabase, options: &PostgresOptions) -> Arc<PostgresStore> {
    loop {
        match PostgresStore::connect(&database.url(), options).await {
            Err(OpenError::NoConnection(_)) => tokio::task::yield_now().await,
            store => return Arc::new(store.unwrap()),
        }
    }
}

impl Fixture {
    async fn opened_again(self) -> Self {
        let Self { store, database, options } = self;
        drop(store);
        let store = connected(&database, &options).await;
        Self { store, database, options }
    }
}

#[async_trait]
impl StoreFixture for Fixture {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen(self) -> Self {
        self.opened_again().await
    }
}

async fn fresh_store(time_limit: Duration) -> Fixture {
    open(time_limit).await
}

signpost_port_contracts::store_contract!(fresh_store);

#[async_trait]
impl QuotaFixture for Fixture {
    fn quota(&self) -> Arc<dyn QuotaStore> {
        self.store.clone()
    }

    async fn account(&self) -> AccountId {
        let account = samples::account();
        let mut work = self.store.begin().await.unwrap();
        work.insert_account(&account).await.unwrap();
        work.commit().await.unwrap();
        account.id
    }

    async fn reopen(self) -> Self {
        self.opened_again().await
    }
}

async fn fresh_quota() -> Fixture {
    open(Duration::from_secs(100)).await
}

signpost_port_contracts::quota_contract!(fresh_quota);

#[async_trait]
impl ClickFixture for Fixture {
    fn clicks(&self) -> Arc<dyn ClickStore> {
        self.store.clone()
    }

    async fn reopen(self) -> Self {
        self.opened_again().await
    }
}

async fn fresh_clicks() -> Fixture {
    open(Duration::from_secs(100)).await
}

signpost_port_contracts::click_contract!(fresh_clicks);

impl ClickTablesFixture for Fixture {
    fn tables(&self) -> Arc<dyn ClickTables> {
        self.store.clone()
    }
}

signpost_port_contracts::click_tables_contract!(fresh_clicks);

#[async_trait]
impl NodeReportsFixture for Fixture {
    fn reports(&self) -> Arc<dyn NodeReports> {
        self.store.clone()
    }

    async fn pass(&self, time: Duration) {
        let seconds = time.as_secs();
        self.database.run(&format!(
            "UPDATE node_reports SET heard_at = heard_at - interval '{seconds} seconds', \
             first_heard_at = first_heard_at - interval '{seconds} seconds'"
        ));
    }
}

async fn fresh_reports() -> Fixture {
    open(Duration::from_secs(100)).await
}

signpost_port_contracts::node_reports_contract!(fresh_reports);
