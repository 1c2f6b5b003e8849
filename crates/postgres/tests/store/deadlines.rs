//! A unit of work has one time limit for all of its calls and all attempts (D6).

use std::time::{Duration, Instant};

use signpost_app::ports::{Store, UnitOfWork};
use signpost_domain::AccountId;
use signpost_postgres::PostgresOptions;

use super::database::{account, migrated, open, open_with, unavailable};

const LIMIT: Duration = Duration::from_secs(3);

/// How much of the limit has passed when a call starts that does not end.
const SPENT: Duration = Duration::from_secs(2);

/// When that call must have ended: well before a limit of its own would pass.
const AT_LAST: Duration = Duration::from_millis(4_500);

/// Waits for a locked row. Every other outcome than the time limit is wrong.
async fn wait_for(mut work: Box<dyn UnitOfWork>, account: AccountId) {
    unavailable(work.set_suspended(account, None).await);
}

/// D6: neither a later call nor another attempt gets the whole time limit again.
#[tokio::test(flavor = "multi_thread")]
async fn d6_all_calls_and_attempts_share_one_time_limit() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let mut holder = store.begin().await.unwrap();
    assert!(holder.set_suspended(account, None).await.unwrap());

    let hasty = open_with(&database, &PostgresOptions::with_time_limit(LIMIT)).await;
    let began = Instant::now();
    let mut work = hasty.begin().await.unwrap();
    while began.elapsed() < SPENT {
        assert!(work.any_account().await.unwrap());
    }
    wait_for(work, account).await;
    assert!(began.elapsed() < AT_LAST, "{:?}", began.elapsed());

    let first_begun = Instant::now().checked_sub(SPENT).unwrap();
    wait_for(hasty.begin_again(first_begun).await.unwrap(), account).await;
    assert!(first_begun.elapsed() < AT_LAST, "{:?}", first_begun.elapsed());
    drop(holder);
}
