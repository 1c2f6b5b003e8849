//! Failed attempts to sign in: how many counts are kept (D75).

use std::net::Ipv4Addr;

use signpost_app::ports::{PeopleUpkeep, SignInTurn};
use signpost_domain::{FAILURE_COUNTS_KEPT, FAILURES_KEPT, SignInKey};
use signpost_port_contracts::samples;
use signpost_sqlite::SqliteStore;

use super::database::Database;

fn key(number: u32) -> SignInKey {
    let email = samples::email(&format!("user-{number}@example.com"));
    SignInKey::new(&email, Ipv4Addr::new(192, 0, 2, 1).into())
}

async fn count(store: &SqliteStore, number: u32, at: i64) {
    assert_eq!(store.count_sign_in(&key(number), samples::at(at)).await.unwrap(), SignInTurn::Allowed);
}

async fn failures(store: &SqliteStore, number: u32) -> u32 {
    store.sign_in_failures(&key(number)).await.unwrap().count
}

/// The number of rows, which the row about the table must name as well.
fn rows(database: &Database) -> i64 {
    let [rows, counted] =
        ["SELECT count(*) AS number FROM sign_in_counts", "SELECT counts AS number FROM sign_in_totals"]
            .map(|sql| database.number(sql));
    assert_eq!(rows, counted);
    rows
}

/// The oldest are dropped, one for each new one.
#[tokio::test]
async fn d75_number_of_counts_is_bounded() {
    let database = Database::new();
    let store = database.open();
    count(&store, 1, 1_000_000).await;
    count(&store, 2, 0).await;
    let others = FAILURE_COUNTS_KEPT - 2;
    database.run_sql(&format!(
        "WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers LIMIT {others}) \
         INSERT INTO sign_in_counts SELECT randomblob(32), 1, {} + number FROM numbers",
        samples::at(1).unix_millis()
    ));
    database.run_sql(&format!("UPDATE sign_in_totals SET counts = counts + {others}"));
    assert_eq!(rows(&database), i64::from(FAILURE_COUNTS_KEPT));
    // One more failure with a known key drops nothing.
    count(&store, 1, 1_000_001).await;
    assert_eq!((failures(&store, 1).await, failures(&store, 2).await), (2, 1));
    assert_eq!(rows(&database), i64::from(FAILURE_COUNTS_KEPT));
    count(&store, 3, 1_000_000).await;
    assert_eq!((failures(&store, 3).await, failures(&store, 2).await), (1, 0));
    assert_eq!(rows(&database), i64::from(FAILURE_COUNTS_KEPT));
    store.forget_sign_ins(&key(3)).await.unwrap();
    count(&store, 4, 1_000_000).await;
    count(&store, 5, 1_000_000).await;
    assert_eq!(rows(&database), i64::from(FAILURE_COUNTS_KEPT));
    for number in [1, 4, 5] {
        assert_ne!(failures(&store, number).await, 0);
    }
}

#[tokio::test]
async fn d75_counts_are_counted_through_all_changes() {
    let database = Database::new();
    let store = database.open();
    for number in 0..9 {
        count(&store, number, i64::from(number)).await;
        count(&store, number, i64::from(number)).await;
    }
    assert_eq!(rows(&database), 9);
    for _ in 0..2 {
        store.forget_sign_ins(&key(8)).await.unwrap();
        assert_eq!(rows(&database), 8);
    }
    let later = samples::at(3).plus(FAILURES_KEPT);
    for (has_more, left) in [(true, 5), (false, 4), (false, 4)] {
        assert_eq!(store.delete_expired_people(later, 3).await.unwrap(), has_more);
        assert_eq!(rows(&database), left);
    }
}
