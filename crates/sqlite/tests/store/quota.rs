//! Request counts in SQLite.

use std::time::Duration;

use signpost_app::ports::{QuotaStore, Store};
use signpost_domain::{QuotaDecision, QuotaRemaining, RequestBudget};
use signpost_port_contracts::samples;
use tokio::time::timeout;

use super::database::{AT_LAST, Database, account, unavailable};

const BUDGET: RequestBudget = RequestBudget { per_minute: 1_000, per_day: 100_000 };
const DAY: i64 = 24 * 60 * 60_000;

/// D16: counts are keyed by the start of their window. For two days after the window ends, the count is found again, however
/// the clock moves. Older counts are deleted in batches, when a new minute starts.
#[tokio::test]
async fn d16_counts_are_kept_for_two_days_after_their_window_and_then_deleted() {
    let database = Database::new();
    let store = database.open();
    let account = samples::id();
    let start = samples::at(0)
        .minus(Duration::from_millis(samples::at(0).unix_millis().rem_euclid(DAY).unsigned_abs()));
    // The minutes of the first day.
    for number in 0..1_440 {
        store.admit(account, BUDGET, start.plus(Duration::from_mins(number))).await.unwrap();
    }
    let rows = || database.number("SELECT count(*) AS number FROM request_counts");
    assert_eq!(rows(), 1_440 + 1);

    // The last millisecond of the second day after the first, and back again.
    let second_day = start.plus(Duration::from_hours(72)).minus(Duration::from_millis(1));
    store.admit(samples::id(), BUDGET, second_day).await.unwrap();
    assert_eq!(rows(), 1_440 + 1 + 2);
    let remaining = store.remaining(account, BUDGET, start).await.unwrap();
    assert_eq!(remaining, QuotaRemaining { minute: BUDGET.per_minute - 1, day: BUDGET.per_day - 1_440 });

    // Much later. Less than a batch waits for more.
    for (days, left) in [(30, 1_440 + 1 + 2 - 1_024 + 2), (60, 1_440 + 1 + 2 - 1_024 + 4)] {
        store.admit(account, BUDGET, start.plus(Duration::from_hours(24 * days))).await.unwrap();
        assert_eq!(rows(), left);
    }
}

#[tokio::test]
async fn refused_request_writes_nothing() {
    let database = Database::new();
    let store = database.open();
    let none = RequestBudget { per_minute: 0, per_day: 10 };
    let decision = store.admit(samples::id(), none, samples::at(0)).await.unwrap();
    assert!(matches!(decision, QuotaDecision::Exhausted { .. }));
    assert_eq!(database.number("SELECT count(*) AS number FROM request_counts"), 0);
}

#[tokio::test]
async fn deleting_an_account_deletes_its_counts_and_no_others() {
    let database = Database::new();
    let store = database.open();
    let (doomed, other) = (account(&store).await, account(&store).await);
    for account in [doomed, other] {
        store.admit(account, BUDGET, samples::at(0)).await.unwrap();
    }
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_account(doomed).await.unwrap());
    work.commit().await.unwrap();
    let untouched = QuotaRemaining { minute: BUDGET.per_minute, day: BUDGET.per_day };
    assert_eq!(store.remaining(doomed, BUDGET, samples::at(0)).await.unwrap(), untouched);
    assert_eq!(store.remaining(other, BUDGET, samples::at(0)).await.unwrap().day, BUDGET.per_day - 1);
}

#[tokio::test]
async fn counting_waits_for_the_open_unit_of_work() {
    let database = Database::new();
    let store = database.open();
    let account = samples::id();
    let work = store.begin().await.unwrap();
    let requests = (0..50).map(|_| store.admit(account, BUDGET, samples::at(0)));
    let (decisions, ()) = tokio::join!(futures_util::future::join_all(requests), async {
        tokio::task::yield_now().await;
        work.commit().await.unwrap();
    });
    assert!(decisions.into_iter().all(|decision| matches!(decision, Ok(QuotaDecision::Admitted { .. }))));
    let remaining = store.remaining(account, BUDGET, samples::at(0)).await.unwrap();
    assert_eq!(remaining.minute, BUDGET.per_minute - 50);
}

/// D6: another program may hold the file's lock.
#[tokio::test]
async fn d6_counting_waits_for_another_program_within_the_time_limit() {
    let database = Database::new();
    let patient = database.open();
    let store = database.open_with_time_limit(Duration::from_millis(200));
    let account = samples::id();
    let other_process = database.raw_holding_the_write_lock();
    let message = unavailable(store.admit(account, BUDGET, samples::at(0)).await);
    assert!(message.contains("time limit") || message.contains("locked"), "{message}");
    drop(other_process);
    // Later requests are counted, in order of arrival. On a busy machine some of them reach the limit too.
    let counted = async {
        while store.admit(samples::id(), BUDGET, samples::at(0)).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(AT_LAST, counted).await.expect("no request is counted any more");
    // The first caller has stopped waiting, so its request is not counted.
    let untouched = QuotaRemaining { minute: BUDGET.per_minute, day: BUDGET.per_day };
    assert_eq!(patient.remaining(account, BUDGET, samples::at(0)).await.unwrap(), untouched);
}
