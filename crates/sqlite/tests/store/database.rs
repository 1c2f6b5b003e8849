//! A separate database for each test.

use std::num::NonZeroUsize;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use signpost_app::ports::{Insertion, Store, StoreError, UnitOfWork};
use signpost_domain::{Account, AccountId, CheckPlan, CustomDomain, Group, Link};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};
use tempfile::TempDir;

pub(crate) const PLENTY: u64 = 1_000_000;

/// Long enough for a busy machine: only something that hangs takes longer.
pub(crate) const AT_LAST: Duration = Duration::from_mins(2);

/// A file in a folder that is deleted with this value.
pub(crate) struct Database {
    _folder: TempDir,
    pub(crate) file: DatabaseFile,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

impl Database {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        Self { _folder: folder, file }
    }

    /// Opens it with a time limit that no test should reach.
    pub(crate) fn open(&self) -> SqliteStore {
        self.open_with_time_limit(Duration::from_mins(1))
    }

    pub(crate) fn open_with_time_limit(&self, time_limit: Duration) -> SqliteStore {
        SqliteStore::open(&self.file, &options(time_limit)).unwrap()
    }

    /// A connection like another program's, without our pragmas.
    pub(crate) fn raw(&self) -> SqliteConnection {
        let mut connection = SqliteConnection::establish(self.file.path().to_str().unwrap()).unwrap();
        connection.batch_execute("PRAGMA busy_timeout = 60000").unwrap();
        connection
    }

    /// Another program in an open transaction, until it is dropped.
    pub(crate) fn raw_holding_the_write_lock(&self) -> SqliteConnection {
        let mut connection = self.raw();
        connection.batch_execute("BEGIN IMMEDIATE").unwrap();
        connection
    }

    /// Runs statements on a connection that ignores the constraints of the tables.
    pub(crate) fn run_sql(&self, sql: &str) {
        let mut connection = self.raw();
        connection.batch_execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF").unwrap();
        connection.batch_execute(sql).unwrap();
    }

    /// The single value of a query, in its column `number`.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        diesel::sql_query(sql).get_result::<Number>(&mut self.raw()).unwrap().number
    }
}

pub(crate) fn options(time_limit: Duration) -> SqliteOptions {
    SqliteOptions { time_limit, readers: NonZeroUsize::new(2).unwrap(), ..SqliteOptions::default() }
}

/// Commits a new account.
pub(crate) async fn account(store: &SqliteStore) -> AccountId {
    let account: Account = samples::account();
    let mut work = store.begin().await.unwrap();
    work.insert_account(&account).await.unwrap();
    work.commit().await.unwrap();
    account.id
}

/// Commits a new group.
pub(crate) async fn group(store: &SqliteStore, account: AccountId) -> Group {
    let group = samples::group("A group");
    let mut work = store.begin().await.unwrap();
    work.insert_group(account, &group, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    group
}

/// Commits a new domain, which is due for a check at once.
pub(crate) async fn domain(store: &SqliteStore, account: AccountId, hostname: &str) -> CustomDomain {
    let domain = CustomDomain::connect(samples::id(), account, samples::hostname(hostname), samples::at(0));
    let checks = CheckPlan { next_check_at: Some(samples::at(0)), checks_made: 0 };
    let mut work = store.begin().await.unwrap();
    work.insert_custom_domain(&domain, checks, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    domain
}

/// Commits a link.
pub(crate) async fn insert(store: &SqliteStore, account: AccountId, link: impl Into<Link>) {
    let mut work = store.begin().await.unwrap();
    insert_in(work.as_mut(), account, link).await;
    work.commit().await.unwrap();
}

/// Inserts a link in a unit of work.
pub(crate) async fn insert_in(work: &mut dyn UnitOfWork, account: AccountId, link: impl Into<Link>) {
    let insertions = work.insert_links(account, &[link.into()], PLENTY).await.unwrap();
    assert_eq!(insertions, [Insertion::Done]);
}

/// The text of the expected error.
pub(crate) fn unavailable<T>(outcome: Result<T, StoreError>) -> String {
    match outcome.map(drop) {
        Err(StoreError::Unavailable(cause)) => cause.to_string(),
        other => panic!("{other:?}"),
    }
}
