//! A unit of work has one time limit for all of its calls and all attempts (D6).

use std::time::{Duration, Instant};

use signpost_app::ports::{Store, StoreError, UnitOfWork};
use signpost_domain::AccountId;
use signpost_postgres::{PostgresOptions, PostgresStore};

use super::database::{account, migrated, open, open_with, unavailable};

const LIMIT: Duration = Duration::from_secs(20);

/// How much of the limit has passed when a unit of work begins again.
const SPENT: Duration = Duration::from_millis(18_500);

/// When a call without an end must have ended. A limit of its own would pass at 38.5 seconds, so the machine may pause for
/// long.
const AT_LAST: Duration = Duration::from_secs(35);

/// Begins another attempt at a unit of work, which has a moment left, and runs a call. Returns when the first attempt began.
async fn begun_again(store: &PostgresStore, has_called: bool) -> (Instant, Box<dyn UnitOfWork>) {
    loop {
        let first_begun = Instant::now().checked_sub(SPENT).unwrap();
        let attempt = async {
            let mut work = store.begin_again(first_begun).await?;
            if has_called {
                assert!(work.any_account().await?);
            }
            Ok(work)
        };
        match attempt.await {
            // On a busy machine the moment may be too short.
            Err(StoreError::Unavailable(_)) => tokio::task::yield_now().await,
            work => return (first_begun, work.unwrap()),
        }
    }
}

/// Waits for a locked row. Every other outcome than the time limit is wrong.
async fn wait_for(mut work: Box<dyn UnitOfWork>, account: AccountId) {
    unavailable(work.set_suspended(account, None).await);
}

/// D6: neither another attempt nor a later call of it gets the whole time limit again.
#[tokio::test(flavor = "multi_thread")]
async fn d6_all_calls_and_attempts_share_one_time_limit() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let mut holder = store.begin().await.unwrap();
    assert!(holder.set_suspended(account, None).await.unwrap());

    let hasty = open_with(&database, &PostgresOptions::with_time_limit(LIMIT)).await;
    for has_called in [false, true] {
        let (first_begun, work) = begun_again(&hasty, has_called).await;
        wait_for(work, account).await;
        assert!(first_begun.elapsed() < AT_LAST, "{has_called}: {:?}", first_begun.elapsed());
    }
    drop(holder);
}
