//! A store in a file of its own, for the contract suites and for the plans of the statements that they run.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::Store;
use signpost_port_contracts::StoreFixture;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) store: Arc<SqliteStore>,
    file: DatabaseFile,
    options: SqliteOptions,
    folder: TempDir,
}

pub(crate) fn open(time_limit: Duration) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
    let options = SqliteOptions { time_limit, ..SqliteOptions::default() };
    let store = Arc::new(SqliteStore::open(&file, &options).unwrap());
    Fixture { store, file, options, folder }
}

impl Fixture {
    /// Dropping closes the store: the suite holds no other handle by then.
    pub(crate) fn opened_again(self) -> Self {
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

pub(crate) async fn fresh_store(time_limit: Duration) -> Fixture {
    open(time_limit)
}
