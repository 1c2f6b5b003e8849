//! No call waits forever, and no abandoned statement runs on at the server (D6).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{AccountReads, Store, StoreError};
use signpost_domain::AccountId;
use signpost_postgres::{PostgresOptions, PostgresStore};
use signpost_test_servers::postgres::PostgresDatabase;
use tokio::time::timeout;

use super::database::{
    AT_LAST, account, do_they_wait, migrated, open, open_with, patiently, unavailable, until_one_waits,
};

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

/// Cancels a caller whose statement waits for a lock, and returns whether the server cancels the statement.
async fn is_cancelled_with_its_caller(
    database: &PostgresDatabase,
    store: &Arc<PostgresStore>,
    account: AccountId,
) -> bool {
    let mut holder = store.begin().await.unwrap();
    assert!(holder.set_suspended(account, None).await.unwrap());
    let waiting = {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let mut work = store.begin().await.unwrap();
            work.set_suspended(account, None).await
        })
    };
    until_one_waits(database).await;
    waiting.abort();
    let is_cancelled = do_they_wait(database, 0).await;
    holder.commit().await.unwrap();
    is_cancelled
}

/// The statement of a cancelled caller that waits for a lock is cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn d6_statement_of_a_cancelled_caller_is_cancelled() {
    let database = migrated().await;
    // The server does not end the statement for its time limit while the test waits.
    let options = PostgresOptions::with_time_limit(AT_LAST * 10);
    let store = Arc::new(open_with(&database, &options).await);
    let account = account(&store).await;
    // The store gives up a cancel request that a busy server does not serve within two seconds.
    let is_cancelled = is_cancelled_with_its_caller(&database, &store, account).await
        || is_cancelled_with_its_caller(&database, &store, account).await;
    assert!(is_cancelled, "it still waits");
    until_nothing_is_at_work(&database).await;
}

/// Repeats a call that must fail at its store's time limit until it takes less than the default limit: it takes longer if
/// the machine pauses meanwhile.
async fn fails_sooner_than_by_default(call: impl AsyncFn() -> Result<(), StoreError>) {
    let ends = Instant::now() + AT_LAST;
    loop {
        let began = Instant::now();
        unavailable(timeout(AT_LAST, call()).await.expect("the call hangs"));
        if began.elapsed() < SOONER_THAN_BY_DEFAULT {
            return;
        }
        assert!(Instant::now() < ends, "the call does not have the time limit of its store");
    }
}

/// A call that waits for a lock or for a connection fails in time.
#[tokio::test(flavor = "multi_thread")]
async fn d6_blocked_call_returns_in_time() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let two = NonZeroUsize::new(2).unwrap();
    let limit = Duration::from_secs(1);
    let options = PostgresOptions { connections: two, ..PostgresOptions::with_time_limit(limit) };
    let hasty = open_with(&database, &options).await;
    let begun = async || patiently(async || hasty.begin().await).await;

    let mut holder = store.begin().await.unwrap();
    assert!(holder.set_suspended(account, None).await.unwrap());
    fails_sooner_than_by_default(async || begun().await.set_suspended(account, None).await.map(drop)).await;
    drop(holder);

    let both = [begun().await, begun().await];
    fails_sooner_than_by_default(async || hasty.begin().await.map(drop)).await;
    drop(both);
    // The connections are returned.
    drop(begun().await);
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
