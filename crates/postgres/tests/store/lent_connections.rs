//! Which connections are lent, and to which callers.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{AccountReads, ChangeLog, LeaseHolder, Leases, ReadChanges, Store};
use signpost_port_contracts::samples;
use signpost_postgres::{PostgresOptions, PostgresStore, migrate};
use signpost_test_servers::postgres::{self, PostgresDatabase, PostgresServer};
use tokio::time::timeout;
use tokio_postgres::NoTls;

use super::database::{
    AT_LAST, PATIENT, account, migrated, open, open_at, open_with, patiently, unavailable, until_they_wait,
};
use super::proxy::Proxy;

/// Options with a time limit that no test should reach.
fn options(connections: usize) -> PostgresOptions {
    PostgresOptions {
        connections: NonZeroUsize::new(connections).unwrap(),
        ..PostgresOptions::with_time_limit(PATIENT)
    }
}

/// The server processes of the stores, once there are this many.
async fn processes(database: &PostgresDatabase, number: usize) -> Vec<String> {
    let ends = Instant::now() + AT_LAST;
    loop {
        let processes = database.query(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'signpost' AND datname = current_database() \
             ORDER BY pid",
        );
        let processes: Vec<String> = processes.lines().map(str::to_owned).collect();
        if processes.len() == number {
            return processes;
        }
        assert!(Instant::now() < ends, "{processes:?}");
        tokio::task::yield_now().await;
    }
}

async fn session(database: &PostgresDatabase) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A prepared statement whose result columns have changed fails for the lifetime of its connection.
#[tokio::test(flavor = "multi_thread")]
async fn connection_with_a_permanently_failing_statement_is_not_reused() {
    let database = migrated().await;
    let store = open_with(&database, &options(1)).await;
    let account = account(&store).await;
    store.account(account).await.unwrap();
    database.run("ALTER TABLE accounts ALTER COLUMN name TYPE varchar(4000)");
    unavailable(store.account(account).await);
    store.account(account).await.unwrap();
}

/// A rejection of values by the database is no reason to close a connection.
#[tokio::test(flavor = "multi_thread")]
async fn connection_is_reused_after_the_database_rejects_values() {
    let database = migrated().await;
    let store = open_with(&database, &options(1)).await;
    let account = samples::account();
    let mut work = store.begin().await.unwrap();
    work.insert_account(&account).await.unwrap();
    work.commit().await.unwrap();
    let before = processes(&database, 1).await;
    let mut work = store.begin().await.unwrap();
    work.insert_account(&account).await.unwrap_err();
    drop(work);
    drop(store.begin().await.unwrap());
    let after = processes(&database, 1).await;
    assert_eq!(after, before);
}

/// As when a server becomes a standby and another one takes over.
#[tokio::test(flavor = "multi_thread")]
async fn read_only_server_is_not_ready_and_gets_no_connections() {
    let server = PostgresServer::start("crates/postgres");
    let url = server.url("postgres");
    migrate(&url).await.unwrap();
    let store = PostgresStore::connect(&url, &options(2)).await.unwrap();
    let idle = [store.begin().await.unwrap(), store.begin().await.unwrap()];
    drop(idle);
    store.check().await.unwrap();

    server.run("postgres", "ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()");
    let ends = Instant::now() + AT_LAST;
    let cause = loop {
        match store.check().await {
            // There is no signal for when the server has reloaded its settings.
            Ok(()) => assert!(Instant::now() < ends, "the store stays ready"),
            refused => break unavailable(refused),
        }
        tokio::task::yield_now().await;
    };
    assert!(cause.contains("read-only"), "{cause}");
    let refused = PostgresStore::connect(&url, &options(2)).await.map(drop).unwrap_err();
    assert!(refused.to_string().contains("does not allow writes"), "{refused}");
    // No connection to it is reused.
    let cause = unavailable(store.check().await);
    assert!(cause.contains("does not allow writes"), "{cause}");

    server.run(
        "postgres",
        "SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only; \
         SELECT pg_reload_conf()",
    );
    let ends = Instant::now() + AT_LAST;
    while store.check().await.is_err() {
        assert!(Instant::now() < ends, "the store does not become ready");
        tokio::task::yield_now().await;
    }
    account(&store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_past_its_age_limit_is_replaced() {
    let database = migrated().await;
    let aging = PostgresOptions { age_limit: Duration::ZERO, ..options(1) };
    let store = open_with(&database, &aging).await;
    store.check().await.unwrap();
    let before = processes(&database, 1).await;
    store.check().await.unwrap();
    assert_ne!(processes(&database, 1).await, before);
}

/// A store with this many idle connections through the proxy.
async fn idle_through(
    proxy: &Proxy,
    database: &PostgresDatabase,
    options: &PostgresOptions,
    connections: usize,
) -> PostgresStore {
    let store = open_at(&proxy.url(database.name()), options).await;
    let mut works = Vec::new();
    for _ in 0..connections {
        works.push(patiently(async || store.begin().await).await);
    }
    drop(works);
    store
}

#[tokio::test(flavor = "multi_thread")]
async fn silently_dead_connections_are_detected_before_reuse() {
    let database = migrated().await;
    let account = account(&open(&database).await).await;
    let proxy = Proxy::to(postgres::shared("crates/postgres").port()).await;
    let asking = PostgresOptions { idle_limit: Duration::ZERO, ..options(4) };
    let store = idle_through(&proxy, &database, &asking, 3).await;
    proxy.cut();
    let before = proxy.connections();
    timeout(AT_LAST, store.account(account)).await.expect("it waits").unwrap();
    // The first timeouts evicted all: the current connection is the only one.
    assert_eq!(proxy.connections(), before + 1);
}

/// How many connections die.
const DEAD: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn calls_after_an_unanswered_one_do_not_wait_in_vain() {
    let database = migrated().await;
    let account = account(&open(&database).await).await;
    let proxy = Proxy::to(postgres::shared("crates/postgres").port()).await;
    let trusting = PostgresOptions {
        idle_limit: Duration::from_hours(1),
        connections: NonZeroUsize::new(8).unwrap(),
        ..PostgresOptions::with_time_limit(Duration::from_secs(5))
    };
    let store = idle_through(&proxy, &database, &trusting, DEAD).await;
    patiently(async || store.account(account).await).await.unwrap();
    proxy.cut();
    unavailable(store.account(account).await);
    patiently(async || store.account(account).await).await.unwrap();
    let call = async || store.begin().await?.any_account().await;
    // On a busy machine a call may reach the limit on a new connection too, but hardly as often as there are dead ones.
    let mut failures = 0;
    while !matches!(call().await, Ok(true)) {
        failures += 1;
        assert!(failures < DEAD, "each dead connection was lent once");
    }
}

/// Less than the time after which the store closes a connection whose statement is not cancelled yet.
const CANCELLING: Duration = Duration::from_millis(1_500);

/// A permit is free again when the connection is closed, not while its statement is being cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn number_of_connections_never_exceeds_the_limit() {
    let database = migrated().await;
    let account = account(&open(&database).await).await;
    let proxy = Proxy::to(postgres::shared("crates/postgres").port()).await;
    let store = Arc::new(PostgresStore::connect(&proxy.url(database.name()), &options(1)).await.unwrap());
    let mut holder = session(&database).await;
    let ends = Instant::now() + AT_LAST;
    loop {
        let lock = holder.transaction().await.unwrap();
        lock.batch_execute("LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE").await.unwrap();
        let working = Arc::clone(&store);
        let waiting =
            tokio::spawn(async move { working.begin().await.unwrap().any_account().await.unwrap() });
        until_they_wait(&database, 1).await;

        proxy.hold(true);
        let before = proxy.connections();
        let aborted = Instant::now();
        waiting.abort();
        // The connection of the cancel request.
        timeout(AT_LAST, proxy.until_connected(before + 1)).await.unwrap();
        let next = timeout(Duration::from_millis(100), store.begin()).await;
        let opened = proxy.connections() - before;
        let is_being_cancelled = aborted.elapsed() < CANCELLING;
        proxy.hold(false);
        lock.rollback().await.unwrap();
        if is_being_cancelled {
            assert!(next.is_err() && opened == 1, "{opened} new connections");
            break;
        }
        assert!(Instant::now() < ends, "the machine is too busy");
    }
    store.account(account).await.unwrap();
    assert!(store.begin().await.unwrap().any_account().await.unwrap());
}

/// Units of work that all wait for one row leave connections to short reads and health checks (D6).
#[tokio::test(flavor = "multi_thread")]
async fn d6_units_of_work_that_wait_leave_connections_to_reads() {
    let database = migrated().await;
    let store = Arc::new(open_with(&database, &options(4)).await);
    let account = account(&store).await;
    let mut holder = session(&database).await;
    let lock = holder.transaction().await.unwrap();
    lock.batch_execute("SELECT FROM accounts FOR UPDATE").await.unwrap();
    let crowd: Vec<_> = (0..12)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut work = store.begin().await.unwrap();
                assert!(work.set_suspended(account, None).await.unwrap());
                work.commit().await.unwrap();
            })
        })
        .collect();
    until_they_wait(&database, 3).await;
    timeout(AT_LAST, store.account(account)).await.expect("a read waits").unwrap();
    timeout(AT_LAST, store.check()).await.expect("the check waits").unwrap();
    assert!(crowd.iter().all(|one| !one.is_finished()));
    lock.rollback().await.unwrap();
    for one in crowd {
        one.await.unwrap();
    }
}

/// A busy store is not taken for a broken one.
#[tokio::test(flavor = "multi_thread")]
async fn d6_health_check_gets_a_connection_when_all_others_are_taken() {
    let database = migrated().await;
    let store = open_with(&database, &options(1)).await;
    let taken = store.begin().await.unwrap();
    timeout(AT_LAST, store.check()).await.expect("the check waits").unwrap();
    drop(taken);
}

/// Under any load, a node learns of other nodes' changes (D58) and keeps its leases.
#[tokio::test(flavor = "multi_thread")]
async fn d58_node_with_all_connections_taken_follows_changes_and_keeps_leases() {
    let database = migrated().await;
    let store = open_with(&database, &options(1)).await;
    let account = account(&store).await;
    let position = store.end_of_changes().await.unwrap();
    let mut taken = store.begin().await.unwrap();
    assert!(taken.set_suspended(account, None).await.unwrap());
    let read = timeout(AT_LAST, store.changes_since(position, 10)).await.expect("the read waits");
    assert!(matches!(read.unwrap(), ReadChanges::These { changes, position: _ } if changes.is_empty()));
    let (holder, now, until) = (LeaseHolder::from_bytes([1; 16]), samples::at(0), samples::at(10));
    let taking = timeout(AT_LAST, store.take_lease("a job", holder, now, until));
    assert!(taking.await.expect("the lease waits").unwrap());
    drop(taken);
}
