//! What every store must do, on SQLite.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "what is tested here is the store, which no use case stands before"
)]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{QuotaStore, Store};
use signpost_domain::AccountId;
use signpost_port_contracts::{QuotaFixture, StoreFixture, samples};
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};
use tempfile::TempDir;

struct Fixture {
    store: Arc<SqliteStore>,
    file: DatabaseFile,
    options: SqliteOptions,
    folder: TempDir,
}

fn open(time_limit: Duration) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
    let options = SqliteOptions { time_limit, ..SqliteOptions::default() };
    let store = Arc::new(SqliteStore::open(&file, &options).unwrap());
    Fixture { store, file, options, folder }
}

impl Fixture {
    /// Closing is dropping: by then the suite holds no other handle.
    fn opened_again(self) -> Self {
        let Self { store, file, options, folder } = self;
        drop(store);
        let store = Arc::new(SqliteStore::open(&file, &options).unwrap());
        Self { store, file, options, folder }
    }
}

#[async_trait]
impl StoreFixture for Fixture {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen(self) -> Self {
        self.opened_again()
    }
}

async fn fresh_store(time_limit: Duration) -> Fixture {
    open(time_limit)
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
        self.opened_again()
    }
}

async fn fresh_quota() -> Fixture {
    open(Duration::from_secs(100))
}

signpost_port_contracts::quota_contract!(fresh_quota);
