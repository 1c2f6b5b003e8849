//! The stores under test.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::ClickStore;
use signpost_memory::MemoryClickStore;
use signpost_postgres::{PostgresOptions, PostgresStore, migrate};
use signpost_sqlite::{DatabaseFile, SqliteClickStore, SqliteOptions};
use signpost_test_servers::postgres::{self, PostgresDatabase};
use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Postgres,
}

/// Longer than any call takes on a busy machine.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// A store, and the folder and database that are removed with it.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn ClickStore>,
    pub(crate) folder: TempDir,
    _database: Option<PostgresDatabase>,
}

/// An empty store; `None`, with a notice, if PostgreSQL is not installed.
pub(crate) async fn open(kind: Kind) -> Option<Opened> {
    let folder = tempfile::tempdir().unwrap();
    let (store, database): (Arc<dyn ClickStore>, _) = match kind {
        Kind::Memory => (Arc::new(MemoryClickStore::default()), None),
        Kind::Sqlite => {
            let file = DatabaseFile::at(folder.path().join("signpost.db")).unwrap();
            let options = SqliteOptions { time_limit: TIME_LIMIT, ..SqliteOptions::default() };
            (Arc::new(SqliteClickStore::open(&file, &options).unwrap()), None)
        }
        Kind::Postgres => {
            let database = match postgres::try_shared() {
                Ok(server) => server.database(None),
                Err(absence) => {
                    absence.tell("exactness of analytics");
                    return None;
                }
            };
            migrate(&database.url()).await.unwrap();
            let options = PostgresOptions::with_time_limit(TIME_LIMIT);
            let store = PostgresStore::connect(&database.url(), &options).await.unwrap();
            (Arc::new(store), Some(database))
        }
    };
    Some(Opened { store, folder, _database: database })
}
