//! A separate database for each test.

use std::time::{Duration, Instant};

use signpost_app::ports::{Insertion, Store, StoreError};
use signpost_domain::{AccountId, CheckPlan, CustomDomain, CustomDomainStatus, Group, Link};
use signpost_port_contracts::samples;
use signpost_postgres::{OpenError, PostgresOptions, PostgresStore, migrate};
use signpost_test_servers::postgres::{self, PostgresDatabase};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

pub(crate) const PLENTY: u64 = 1_000_000;

/// Long enough for a busy machine: only something that hangs takes longer.
pub(crate) const AT_LAST: Duration = Duration::from_mins(1);

/// A time limit that no test should reach, longer than [`AT_LAST`].
pub(crate) const PATIENT: Duration = Duration::from_mins(2);

/// An empty database.
pub(crate) fn empty() -> PostgresDatabase {
    postgres::shared("crates/postgres").database(None)
}

/// A migrated database.
pub(crate) async fn migrated() -> PostgresDatabase {
    // A copy takes a fraction of the time of a migration.
    static TEMPLATE: OnceCell<PostgresDatabase> = OnceCell::const_new();
    let template = TEMPLATE.get_or_init(async || {
        let template = empty();
        // With the runtime ends its connection, which would keep the template from being copied until the test waits.
        let url = template.url();
        let migrating = move || Runtime::new().unwrap().block_on(migrate(&url)).unwrap();
        tokio::task::spawn_blocking(migrating).await.unwrap();
        template
    });
    let template = template.await;
    template.server().database(Some(template.name()))
}

/// A store on the database, with a time limit that no test should reach.
pub(crate) async fn open(database: &PostgresDatabase) -> PostgresStore {
    open_with(database, &PostgresOptions::with_time_limit(PATIENT)).await
}

pub(crate) async fn open_with(database: &PostgresDatabase, options: &PostgresOptions) -> PostgresStore {
    open_at(&database.url(), options).await
}

/// A store on the database at `url`. Tries again if the first contact reaches a short time limit on a busy machine.
pub(crate) async fn open_at(url: &str, options: &PostgresOptions) -> PostgresStore {
    let ends = Instant::now() + AT_LAST;
    loop {
        match PostgresStore::connect(url, options).await {
            Err(OpenError::NoConnection(_)) if Instant::now() < ends => tokio::task::yield_now().await,
            opened => return opened.unwrap(),
        }
    }
}

/// Repeats a call that may reach a short time limit on a busy machine.
pub(crate) async fn patiently<T>(call: impl AsyncFn() -> Result<T, StoreError>) -> T {
    let ends = Instant::now() + AT_LAST;
    loop {
        match call().await {
            Err(StoreError::Unavailable(_)) if Instant::now() < ends => tokio::task::yield_now().await,
            answer => return answer.unwrap(),
        }
    }
}

/// Commits a new account.
pub(crate) async fn account(store: &PostgresStore) -> AccountId {
    let account = samples::account();
    let mut work = store.begin().await.unwrap();
    work.insert_account(&account).await.unwrap();
    work.commit().await.unwrap();
    account.id
}

/// Commits a new group.
pub(crate) async fn group(store: &PostgresStore, account: AccountId) -> Group {
    let group = samples::group("A group");
    let mut work = store.begin().await.unwrap();
    work.insert_group(account, &group, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    group
}

/// A check that is due at the first instant of the samples.
pub(crate) fn due() -> CheckPlan {
    CheckPlan { next_check_at: Some(samples::at(0)), checks_made: 0 }
}

/// An active domain that is not inserted.
pub(crate) fn domain(account: AccountId, host: &str) -> CustomDomain {
    let status = CustomDomainStatus::Active { misdirected_since: None };
    CustomDomain { status, ..samples::custom_domain(account, host) }
}

/// Commits an active domain, whose check is due.
pub(crate) async fn active_domain(store: &PostgresStore, account: AccountId, host: &str) -> CustomDomain {
    let domain = domain(account, host);
    let mut work = store.begin().await.unwrap();
    work.insert_custom_domain(&domain, due(), PLENTY).await.unwrap();
    work.commit().await.unwrap();
    domain
}

/// Waits until one unit of work waits for another.
pub(crate) async fn until_one_waits(database: &PostgresDatabase) {
    until_they_wait(database, 1).await;
}

/// Waits until this many connections wait for a lock.
pub(crate) async fn until_they_wait(database: &PostgresDatabase, number: usize) {
    let waiting = do_they_wait(database, number).await;
    assert!(waiting, "there is no moment at which {number} connections wait for a lock");
}

/// Whether exactly this many connections wait for a lock at some moment of the next minute.
pub(crate) async fn do_they_wait(database: &PostgresDatabase, number: usize) -> bool {
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
        AND datname = current_database()";
    let ends = Instant::now() + AT_LAST;
    while database.query(waiting).trim() != number.to_string() {
        if Instant::now() >= ends {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}

/// Commits a link.
pub(crate) async fn insert(store: &PostgresStore, account: AccountId, link: impl Into<Link>) {
    insert_all(store, account, &[link.into()]).await;
}

pub(crate) async fn insert_all(store: &PostgresStore, account: AccountId, links: &[Link]) {
    let mut work = store.begin().await.unwrap();
    let insertions = work.insert_links(account, links, PLENTY).await.unwrap();
    assert!(insertions.iter().all(|insertion| *insertion == Insertion::Done), "{insertions:?}");
    work.commit().await.unwrap();
}

/// The text of the expected error.
pub(crate) fn unavailable<T>(outcome: Result<T, StoreError>) -> String {
    match outcome.map(drop) {
        Err(StoreError::Unavailable(cause)) => cause.to_string(),
        other => panic!("{other:?}"),
    }
}
