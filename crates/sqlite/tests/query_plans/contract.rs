//! The statements of all cases of the contract, so that a method of the port needs a case there and nothing here.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::Store;
use signpost_port_contracts::{StoreFixture, store};
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};
use tempfile::TempDir;

use super::{Subject, assert_frugal, plan, recorder};

struct Fixture {
    store: Arc<SqliteStore>,
    file: DatabaseFile,
    options: SqliteOptions,
    folder: TempDir,
}

#[async_trait]
impl StoreFixture for Fixture {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen(self) -> Self {
        let Self { store, file, options, folder } = self;
        drop(store);
        let store = Arc::new(SqliteStore::open(&file, &options).unwrap());
        Self { store, file, options, folder }
    }
}

async fn fresh_store(time_limit: Duration) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
    let options = SqliteOptions { time_limit, ..SqliteOptions::default() };
    let store = Arc::new(SqliteStore::open(&file, &options).unwrap());
    Fixture { store, file, options, folder }
}

/// Statements that read a whole table on purpose.
fn is_excepted(statement: &str) -> bool {
    // An operator's question: how many accounts are on each plan.
    let counts_plans = statement.starts_with("SELECT `accounts`.`plan`, COUNT(*)");
    // Diesel's text for an empty list; SQLite reads no row for it.
    counts_plans || statement.ends_with("WHERE (1=0)")
}

pub(crate) async fn is_found_by_indexes(subject: &mut Subject) {
    let (opening, _) = recorder::recorded(fresh_store(Duration::from_mins(1))).await;
    let mut seen: BTreeSet<String> = opening.into_iter().collect();
    // Cases about time limits run statements of others, and depend on how busy the machine is.
    for (file, case) in store::cases().filter(|(file, _)| *file != "time_limits") {
        let running = async {
            // A case has a runtime of its own.
            thread::spawn(move || store::run(file, case, fresh_store)).join().unwrap();
        };
        let (statements, ()) = recorder::recorded(running).await;
        for statement in statements {
            if seen.insert(statement.clone())
                && !recorder::is_steering(&statement)
                && !is_excepted(&statement)
            {
                assert_frugal(&statement, &plan(&mut subject.connection, &statement));
            }
        }
    }
    assert!(seen.len() > 200, "{seen:#?}");
}
