//! The file of clicks (ADR 47).

use std::path::Path;
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use signpost_app::ports::{Appended, ClickStore, EncodedClicks, Upkeep};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{ClickSource, UtcDay, VisitorKey};
use signpost_port_contracts::click_samples::{ClickedLink, at, hash};
use signpost_sqlite::{OpenError, SqliteClickStore, back_up_with_clicks};

use super::database::{Database, options};

const PATIENCE: Duration = Duration::from_mins(1);

async fn filled(database: &Database) -> SqliteClickStore {
    let store = SqliteClickStore::open(&database.file, &options(PATIENCE)).unwrap();
    let clicked = ClickedLink::new();
    for number in 1..=5 {
        assert_eq!(store.append(&clicked.batch(number)).await.unwrap(), Appended::Now);
    }
    store
}

async fn pack(store: &SqliteClickStore, now: Timestamp) {
    while store.pack(now).await.unwrap().upkeep == Upkeep::More {}
}

/// How many of the values occur in the files of the clicks.
fn found(database: &Database, values: &[Vec<u8>]) -> usize {
    let file = database.file.of_clicks();
    let mut bytes = std::fs::read(file.path()).unwrap();
    let log = format!("{}-wal", file.path().display());
    bytes.extend(std::fs::read(log).unwrap_or_default());
    values.iter().filter(|value| bytes.windows(value.len()).any(|window| window == value.as_slice())).count()
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

fn number(database: &Database, of: &str) -> i64 {
    let mut connection =
        SqliteConnection::establish(database.file.of_clicks().path().to_str().unwrap()).unwrap();
    let Number { number } =
        diesel::sql_query(format!("SELECT {of} AS number")).get_result(&mut connection).unwrap();
    number
}

const BATCHES: &str = "(SELECT count(*) FROM click_batches)";

#[tokio::test(flavor = "multi_thread")]
async fn packing_starts_at_an_age_or_at_a_number_of_batches_or_clicks() {
    let database = Database::new();
    let store = SqliteClickStore::open(&database.file, &options(PATIENCE)).unwrap();
    let clicked = ClickedLink::new();
    store.append(&clicked.batch(1)).await.unwrap();
    assert_eq!(store.pack(at(59_999)).await.unwrap().upkeep, Upkeep::Done);
    assert_eq!(number(&database, BATCHES), 1);
    assert_eq!(store.pack(at(60_000)).await.unwrap().upkeep, Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    for next in 2..=50 {
        store.append(&clicked.batch(next)).await.unwrap();
    }
    assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::Done);
    store.append(&clicked.batch(51)).await.unwrap();
    assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    let small =
        |number| EncodedClicks { source: ClickSource([2; 16]), number, clicks: 1, ..clicked.batch(1) };
    for next in 1..=256 {
        assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::Done);
        store.append(&small(next)).await.unwrap();
    }
    assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    assert_eq!(number(&database, "(SELECT sum(clicks) FROM click_segments)"), 51_000 + 256_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_batch_is_set_aside() {
    let database = Database::new();
    let store = filled(&database).await;
    let clicked = ClickedLink::new();
    let malformed = EncodedClicks { segment: vec![7; 100], ..clicked.batch(6) };
    store.append(&malformed).await.unwrap();
    pack(&store, at(3_600_000)).await;
    assert_eq!(number(&database, BATCHES), 0);
    assert_eq!(number(&database, "(SELECT sum(clicks) FROM click_segments)"), 5_000);
    let aside = "(SELECT count(*) FROM unreadable_click_batches WHERE number = 6 AND length(data) = 100)";
    assert_eq!(number(&database, aside), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_sealing_leaves_no_visitor_hash_in_the_files() {
    let database = Database::new();
    let store = filled(&database).await;
    let hashes: Vec<Vec<u8>> = (0..5_000).step_by(50).map(|number| hash(number).to_vec()).collect();
    pack(&store, at(3_600_000)).await;
    let hours = |hours: i64| at(hours * 3_600_000);
    assert_eq!(store.seal(hours(30)).await.unwrap(), Upkeep::Done);
    assert_eq!(found(&database, &hashes), hashes.len(), "the hashes are missing before sealing");
    while store.seal(hours(24 * 4)).await.unwrap() == Upkeep::More {}
    assert_eq!(found(&database, &hashes), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_deleted_key_is_in_no_file() {
    let database = Database::new();
    let store = SqliteClickStore::open(&database.file, &options(PATIENCE)).unwrap();
    let day = UtcDay::of(at(0));
    let key: [u8; 32] = std::array::from_fn(|place| hash(u64::try_from(place).unwrap())[0]);
    store.visitor_key(day, VisitorKey(key)).await.unwrap();
    assert_eq!(found(&database, &[key.to_vec()]), 1);
    store.forget_visitor_keys(day.plus(1)).await.unwrap();
    assert_eq!(found(&database, &[key.to_vec()]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn r39_backup_has_the_clicks_beside_it() {
    let database = Database::new();
    drop(database.open());
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("monday.db");
    let without_clicks = tempfile::tempdir().unwrap();
    let sunday = without_clicks.path().join("sunday.db");
    assert_eq!(back_up_with_clicks(&database.file, &sunday, PATIENCE).unwrap().1, None);
    let store = filled(&database).await;
    let key: [u8; 32] = std::array::from_fn(|place| hash(u64::try_from(place).unwrap())[0]);
    store.visitor_key(UtcDay::of(at(0)), VisitorKey(key)).await.unwrap();
    let (whole, backup) = back_up_with_clicks(&database.file, &target, PATIENCE).unwrap();
    assert_eq!(whole.path, target);
    let backup = backup.unwrap();
    assert_eq!(backup.path, folder.path().join("monday-clicks.db"));
    let hashes: Vec<Vec<u8>> = (0..5_000).step_by(50).map(|number| hash(number).to_vec()).collect();
    let bytes = std::fs::read(&backup.path).unwrap();
    assert!(hashes.iter().all(|hash| bytes.windows(6).any(|window| window == hash)));
    assert!(!bytes.windows(32).any(|window| window == key), "D48: the copy has the key of its hashes");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "a journal would have the key");
    // The original store keeps working.
    pack(&store, at(3_600_000)).await;
}

/// Otherwise the half would count as a backup, and the rotation would delete a whole one for it.
#[tokio::test(flavor = "multi_thread")]
async fn r39_no_half_of_a_backup_is_left_if_one_half_fails() {
    let database = Database::new();
    drop(database.open());
    drop(filled(&database).await);
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("monday.db");
    let left = || std::fs::read_dir(folder.path()).unwrap().count();
    std::fs::write(folder.path().join("monday-clicks.db"), "an older file").unwrap();
    back_up_with_clicks(&database.file, &target, PATIENCE).unwrap_err();
    assert_eq!((left(), target.exists()), (1, false), "the clicks cannot get their name");
    std::fs::remove_file(folder.path().join("monday-clicks.db")).unwrap();
    std::fs::write(database.file.of_clicks().path(), "no database").unwrap();
    back_up_with_clicks(&database.file, &target, PATIENCE).unwrap_err();
    assert_eq!(left(), 0, "the clicks cannot be read");
}

#[test]
fn d61_click_file_is_not_created_without_its_database() {
    let database = Database::new();
    let error = SqliteClickStore::open_existing(&database.file, &options(PATIENCE)).map(drop).unwrap_err();
    assert!(matches!(error, OpenError::NoDatabase { .. }), "{error}");
    assert!(!database.file.of_clicks().path().exists());
    drop(database.open());
    drop(SqliteClickStore::open_existing(&database.file, &options(PATIENCE)).unwrap());
    assert_private(database.file.of_clicks().path());
}

#[test]
fn click_file_and_database_are_not_confused() {
    let database = Database::new();
    drop(SqliteClickStore::open(&database.file, &options(PATIENCE)).unwrap());
    let clicks = signpost_sqlite::DatabaseFile::at(database.file.of_clicks().path()).unwrap();
    let error = signpost_sqlite::SqliteStore::open(&clicks, &options(PATIENCE)).map(drop).unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
}

#[cfg(unix)]
fn assert_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(not(unix))]
fn assert_private(_: &Path) {}
