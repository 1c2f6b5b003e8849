//! The file returns the space of deleted rows.

use std::fs;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use signpost_app::ports::{AnswerReads, Store};
use signpost_port_contracts::samples;

use crate::database::{self, Database};

/// How long the writing thread may take for its idle work.
const AT_LAST: Duration = Duration::from_mins(1);

/// Some 40 MB of answers, all of the same age.
const ANSWERS: &str =
    "WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers LIMIT 4000)
    INSERT INTO remembered_answers (account_id, key, fingerprint, status, body, created_at)
    SELECT zeroblob(16), 'key-' || number, zeroblob(32), 201, hex(zeroblob(5000)), 0 FROM numbers";

fn pages(database: &Database) -> i64 {
    database.number("SELECT page_count AS number FROM pragma_page_count")
}

async fn forget_all(store: &signpost_sqlite::SqliteStore) {
    while store.forget_answers(samples::at(0), 500).await.unwrap() > 0 {}
}

#[tokio::test]
async fn file_shrinks_after_expired_answers_are_deleted() {
    let database = Database::new();
    let store = database.open();
    database.raw().batch_execute(ANSWERS).unwrap();
    let before = pages(&database);
    forget_all(&store).await;
    let began = Instant::now();
    while pages(&database) > before / 4 {
        assert!(began.elapsed() < AT_LAST, "{} of {before} pages", pages(&database));
        tokio::task::yield_now().await;
    }
    // Units of work run meanwhile, and nothing is lost.
    database::account(&store).await;
    drop(store);
    let bytes = i64::try_from(fs::metadata(database.file.path()).unwrap().len()).unwrap();
    assert!(bytes < before / 4 * 4096, "{bytes} bytes");
    assert_eq!(
        database
            .number("SELECT count(*) AS number FROM pragma_integrity_check WHERE integrity_check <> 'ok'"),
        0
    );
    database.open().check().await.unwrap();
}

/// A file of an earlier version keeps its free pages until a copy replaces it.
#[tokio::test]
async fn copy_of_an_older_file_returns_free_space() {
    let database = Database::new();
    drop(database.open());
    database.raw().batch_execute("PRAGMA auto_vacuum = NONE; VACUUM").unwrap();
    let mode = |database: &Database| database.number("SELECT auto_vacuum AS number FROM pragma_auto_vacuum");
    let store = database.open();
    assert_eq!(mode(&database), 0);
    database.raw().batch_execute(ANSWERS).unwrap();
    let before = pages(&database);
    forget_all(&store).await;
    database::account(&store).await;
    drop(store);
    assert_eq!(pages(&database), before);
    let other = Database::new();
    signpost_sqlite::back_up(&database.file, other.file.path(), AT_LAST).unwrap();
    assert_eq!(mode(&other), 2);
    assert!(pages(&other) < before / 4);
}
