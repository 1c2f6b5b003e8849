//! No call waits forever, and no abandoned statement runs on at the server (D6).

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use signpost_app::ports::{AccountReads, Store};
use signpost_postgres::PostgresOptions;
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{account, migrated, open, open_with, unavailable};

/// Long enough for a busy machine, far too short for something that hangs.
const AT_LAST: Duration = Duration::from_secs(30);

/// Less than the default limit of a store.
const SOONER_THAN_BY_DEFAULT: Duration = Duration::from_secs(4);

/// How many connections of the store run a statement or are in a transaction.
fn at_work(database: &PostgresDatabase) -> String {
    database
        .query(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'signpost' AND state <> 'idle' \
             AND datname = current_database()",
        )
        .trim()
        .to_owned()
}

async fn until_nothing_is_at_work(database: &PostgresDatabase) {
    let ends = Instant::now() + AT_LAST;
    while at_work(database) != "0" {
        assert!(Instant::now() < ends, "a statement still runs");
        tokio::task::yield_now().await;
    }
}

/// The statement of a cancelled caller that waits for a lock is cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn d6_statement_of_a_cancelled_caller_is_cancelled() {
    let database = migrated().await;
    let store = std::sync::Arc::new(open(&database).await);
    let account = account(&store).await;
    let mut holder = store.begin().await.unwrap();
    assert!(holder.set_suspended(account, None).await.unwrap());
    let waiting = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut work = store.begin().await.unwrap();
            work.set_suspended(account, None).await
        })
    };
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
        AND datname = current_database()";
    while database.query(waits).trim() != "1" {
        tokio::task::yield_now().await;
    }
    waiting.abort();
    let ends = Instant::now() + AT_LAST;
    while database.query(waits).trim() != "0" {
        assert!(Instant::now() < ends, "it still waits");
        tokio::task::yield_now().await;
    }
    holder.commit().await.unwrap();
    until_nothing_is_at_work(&database).await;
}

/// A call that waits for a lock or for a connection fails in time.
#[tokio::test(flavor = "multi_thread")]
async fn d6_blocked_call_returns_in_time() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let limit = Duration::from_millis(500);
    let two = NonZeroUsize::new(2).unwrap();
    let options = PostgresOptions { connections: two, ..PostgresOptions::with_time_limit(limit) };
    let hasty = open_with(&database, &options).await;

    let mut holder = store.begin().await.unwrap();
    assert!(holder.set_suspended(account, None).await.unwrap());
    let began = Instant::now();
    let mut work = hasty.begin().await.unwrap();
    unavailable(work.set_suspended(account, None).await);
    assert!(began.elapsed() < SOONER_THAN_BY_DEFAULT);
    drop(work);
    drop(holder);

    let both = [hasty.begin().await.unwrap(), hasty.begin().await.unwrap()];
    let began = Instant::now();
    unavailable(hasty.begin().await.map(drop));
    assert!(began.elapsed() < SOONER_THAN_BY_DEFAULT);
    drop(both);
    let ends = Instant::now() + AT_LAST;
    while hasty.begin().await.is_err() {
        assert!(Instant::now() < ends, "the connections are not returned");
    }
}

/// The server ends the connections, as in a restart; the next call gets a new one.
#[tokio::test(flavor = "multi_thread")]
async fn lost_connections_are_replaced() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let work = store.begin().await.unwrap();
    database.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signpost' \
         AND datname = current_database()",
    );
    unavailable(work.commit().await);
    store.account(account).await.unwrap();
}
