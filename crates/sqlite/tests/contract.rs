//! The contract suites on SQLite.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "the store itself is tested, without use cases")]

mod store_fixture;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{
    ClickStore, CountId, CountedElsewhere, MergingQuotaStore, QuotaStore, Store as _, StoreError,
};
use signpost_click_store::ClickTables;
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget, Timestamp};
use signpost_port_contracts::click_tables::ClickTablesFixture;
use signpost_port_contracts::{ClickFixture, QuotaFixture, samples};
use signpost_sqlite::{DatabaseFile, SqliteClickStore, SqliteOptions};
use tempfile::TempDir;

use self::store_fixture::{Fixture, fresh_store, open};

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

async fn fresh_merging() -> Arc<dyn MergingQuotaStore> {
    Arc::new(open(Duration::from_secs(100)))
}

#[async_trait]
impl QuotaStore for Fixture {
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        self.store.admit(account, budget, now).await
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        self.store.remaining(account, budget, now).await
    }
}

#[async_trait]
impl MergingQuotaStore for Fixture {
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<u32, StoreError> {
        self.store.merge(account, window, at, counted).await
    }

    async fn try_write(&self, proposed: CountId) -> Result<CountId, StoreError> {
        self.store.try_write(proposed).await
    }
}

signpost_port_contracts::quota_merging_contract!(fresh_merging);

struct Clicks {
    store: Arc<SqliteClickStore>,
    file: DatabaseFile,
    folder: TempDir,
}

fn options_of_clicks() -> SqliteOptions {
    SqliteOptions { time_limit: Duration::from_secs(100), ..SqliteOptions::default() }
}

#[async_trait]
impl ClickFixture for Clicks {
    fn clicks(&self) -> Arc<dyn ClickStore> {
        self.store.clone()
    }

    async fn reopen(self) -> Self {
        let Self { store, file, folder } = self;
        drop(store);
        let store = Arc::new(SqliteClickStore::open(&file, &options_of_clicks()).unwrap());
        Self { store, file, folder }
    }
}

async fn fresh_clicks() -> Clicks {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
    let store = Arc::new(SqliteClickStore::open(&file, &options_of_clicks()).unwrap());
    Clicks { store, file, folder }
}

signpost_port_contracts::click_contract!(fresh_clicks);

impl ClickTablesFixture for Clicks {
    fn tables(&self) -> Arc<dyn ClickTables> {
        self.store.clone()
    }
}

signpost_port_contracts::click_tables_contract!(fresh_clicks);
