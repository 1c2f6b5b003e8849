//! Backups of a database in use (R39).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use signpost_app::ports::{AccountReads, GroupReads, Store};
use signpost_sqlite::{Backup, BackupError, DatabaseFile, OpenError, SqliteStore, back_up};

use super::database::{Database, account, group, options};
use super::processes::Place;

const PATIENCE: Duration = Duration::from_mins(1);

/// A database with this many rows of a kilobyte, so that copying it takes a moment.
async fn filled(database: &Database, rows: u32) -> (SqliteStore, Place) {
    let store = database.open();
    let place = Place::new(&store).await;
    place.insert(&store, 1).await;
    let filling = format!(
        "CREATE TABLE filling (bytes BLOB NOT NULL); \
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) \
         INSERT INTO filling SELECT randomblob(1000) FROM n"
    );
    database.raw().batch_execute(&filling).unwrap();
    (store, place)
}

fn beside(database: &Database, name: &str) -> PathBuf {
    database.file.path().with_file_name(name)
}

fn taken(database: &Database, name: &str) -> Result<Backup, BackupError> {
    back_up(&database.file, &beside(database, name), PATIENCE)
}

fn names_in_folder_of(file: &Path) -> Vec<String> {
    let entries = fs::read_dir(file.parent().unwrap()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whether a copy is being written and has not been renamed yet.
fn is_being_written(target: &Path) -> bool {
    names_in_folder_of(target).iter().any(|name| name.starts_with(".signpost-backup-")) && !target.exists()
}

/// R39, D60: the copy contains all earlier acknowledged writes, its counters match its rows, and writers continue during the
/// whole copy.
#[tokio::test(flavor = "multi_thread")]
async fn r39_backup_under_load_is_complete_and_blocks_no_writer() {
    let mut during = 0;
    // On a busy machine a few commits may last longer than the copy of a small database.
    for rows in [30_000, 120_000, 480_000] {
        during = commits_during_backup(rows).await;
        if during >= 3 {
            return;
        }
    }
    panic!("writers waited for the copy: {during} commits from its beginning to its end");
}

/// Copies a database with this many rows while commits follow each other, and checks the copy. Returns the number of commits
/// that began and ended while it was made.
async fn commits_during_backup(rows: u32) -> u32 {
    let database = Database::new();
    let (store, place) = filled(&database, rows).await;
    let target = beside(&database, "copy.db");
    let over = AtomicBool::new(false);
    let (mut before, mut during, mut next) = (0, 0, 2);
    std::thread::scope(|scope| {
        let copying = scope.spawn(|| {
            let taken = back_up(&database.file, &target, PATIENCE);
            over.store(true, Ordering::Release);
            taken
        });
        let runtime = tokio::runtime::Handle::current();
        while !over.load(Ordering::Acquire) {
            let begun = is_being_written(&target);
            tokio::task::block_in_place(|| runtime.block_on(place.insert(&store, next)));
            next += 1;
            match (begun, is_being_written(&target)) {
                (true, true) => during += 1,
                (false, false) if !target.exists() => before += 1,
                (true | false, true | false) => {}
            }
        }
        copying.join().unwrap().unwrap();
    });
    drop(store);

    let copy = DatabaseFile::at(&target).unwrap();
    let restored = SqliteStore::open(&copy, &options(PATIENCE)).unwrap();
    let links = restored.usage(place.account).await.unwrap().unwrap().links;
    assert!((1 + before..next).contains(&u128::from(links)), "{before} {links} {next}");
    let group = restored.group(place.account, place.group).await.unwrap().unwrap();
    assert_eq!(group.redirects_count, links);
    drop(restored);
    let mut connection = SqliteConnection::establish(target.to_str().unwrap()).unwrap();
    let counted: i64 = diesel::dsl::sql::<diesel::sql_types::BigInt>("SELECT count(*) FROM links")
        .get_result(&mut connection)
        .unwrap();
    assert_eq!(u64::try_from(counted).unwrap(), links);
    during
}

/// R39: a writer does not block the backup either, and its open transaction is not in it.
#[tokio::test]
async fn r39_open_transaction_neither_blocks_a_backup_nor_appears_in_it() {
    let database = Database::new();
    let store = database.open();
    account(&store).await;
    let mut other = database.raw_holding_the_write_lock();
    other.batch_execute("DELETE FROM accounts").unwrap();
    let target = beside(&database, "copy.db");
    let Backup { path, bytes } = back_up(&database.file, &target, Duration::ZERO).unwrap();
    other.batch_execute("COMMIT").unwrap();
    assert_eq!((path, bytes), (target.clone(), fs::metadata(&target).unwrap().len()));
    let restored = SqliteStore::open(&DatabaseFile::at(&target).unwrap(), &options(PATIENCE)).unwrap();
    assert!(restored.begin().await.unwrap().any_account().await.unwrap());
    assert!(!store.begin().await.unwrap().any_account().await.unwrap());
}

/// D13: like the database, a copy contains key hashes and private notes.
#[cfg(unix)]
#[tokio::test]
async fn d13_backup_is_a_single_file_that_only_its_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let database = Database::new();
    drop(database.open());
    taken(&database, "copy.db").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let target = beside(&database, "copy.db");
    assert_eq!((mode(&target), mode(&target)), (0o600, mode(database.file.path())));
    assert_eq!(names_in_folder_of(&target), ["copy.db", "test.db"]);
}

/// A backup never replaces anything, not even a dangling link.
#[tokio::test]
async fn backup_never_overwrites_a_file() {
    let database = Database::new();
    drop(database.open());
    fs::write(beside(&database, "taken.db"), "mine").unwrap();
    for name in ["taken.db", "test.db", "."] {
        let refused = taken(&database, name).unwrap_err();
        assert!(matches!(refused, BackupError::Exists { .. }), "{name}: {refused}");
    }
    assert_eq!(fs::read(beside(&database, "taken.db")).unwrap(), b"mine");
    assert!(database.number("SELECT count(*) AS number FROM accounts") == 0);
}

/// A missing database is not created, and an unfinished copy is not left behind.
#[tokio::test]
async fn failed_backup_leaves_nothing_behind() {
    let database = Database::new();
    let refused = taken(&database, "copy.db").unwrap_err();
    assert!(matches!(refused, BackupError::Open(OpenError::NoDatabase { .. })), "{refused}");
    drop(SqliteConnection::establish(database.file.path().to_str().unwrap()).unwrap());
    let refused = taken(&database, "copy.db").unwrap_err();
    assert!(matches!(refused, BackupError::Open(OpenError::NoDatabase { .. })), "{refused}");
    drop(fs::remove_file(database.file.path()));
    database.raw().batch_execute("CREATE TABLE of_somebody_else (a)").unwrap();
    let refused = taken(&database, "copy.db").unwrap_err();
    assert!(matches!(refused, BackupError::Open(OpenError::Foreign { .. })), "{refused}");
    let refused = taken(&database, "nowhere/copy.db").unwrap_err();
    assert!(matches!(refused, BackupError::Open(_) | BackupError::NoFile { .. }), "{refused}");
    assert_eq!(names_in_folder_of(database.file.path()), ["test.db"]);
}

/// A row with a dangling reference is copied as it is; the check finds it.
#[tokio::test]
async fn damaged_copy_is_deleted() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    group(&store, account).await;
    drop(store);
    database.run_sql("DELETE FROM accounts");
    let refused = taken(&database, "copy.db").unwrap_err();
    assert!(matches!(refused, BackupError::Damaged { .. }), "{refused}");
    assert!(refused.to_string().contains("rows with dangling references: 1"), "{refused}");
    assert!(refused.to_string().contains("test.db"), "{refused}");
    assert_eq!(names_in_folder_of(database.file.path()), ["test.db"]);
}

/// D48: an unfinished copy of the clicks may hold keys of visitors' hashes. Another backup may be running just now.
#[cfg(unix)]
#[tokio::test]
async fn d48_a_backup_deletes_what_killed_ones_left_but_not_what_is_being_written() {
    let database = Database::new();
    drop(database.open());
    let age = |path: &Path, hours: u64| {
        let then = SystemTime::now() - Duration::from_hours(hours);
        fs::File::open(path).unwrap().set_modified(then).unwrap();
    };
    let left_for = |name: &str, file_hours, folder_hours| {
        let folder = beside(&database, name);
        fs::create_dir(&folder).unwrap();
        let file = folder.join("copy");
        fs::write(&file, "keys").unwrap();
        age(&file, file_hours);
        age(&folder, folder_hours);
    };
    left_for(".signpost-backup-killed", 7, 7);
    left_for(".signpost-backup-running", 0, 7);
    left_for(".signpost-backup-begun", 7, 0);
    left_for("others", 7, 7);
    taken(&database, "copy.db").unwrap();
    assert_eq!(
        names_in_folder_of(database.file.path()),
        [".signpost-backup-begun", ".signpost-backup-running", "copy.db", "others", "test.db"]
    );
}

/// The advice must not be to look for room on the disk.
#[tokio::test]
async fn d60_a_damaged_database_is_named_by_a_backup_that_fails() {
    let database = Database::new();
    let (store, _) = filled(&database, 1_000).await;
    drop(store);
    database.run_sql("PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = fs::read(database.file.path()).unwrap();
    // Behind the pages that opening reads.
    let among_the_links = bytes.len() / 2..bytes.len() / 4 * 3;
    bytes[among_the_links].fill(0xff);
    fs::write(database.file.path(), bytes).unwrap();
    let refused = taken(&database, "copy.db").unwrap_err();
    assert!(matches!(refused, BackupError::DamagedSource { .. }), "{refused}");
    let message = refused.to_string();
    assert!(message.contains("test.db") && message.contains("it is damaged"), "{message}");
    assert!(!message.contains("room"), "{message}");
    assert_eq!(names_in_folder_of(database.file.path()), ["test.db"]);
}

/// A backup before an upgrade contains the old tables, which the new program must not touch.
#[tokio::test]
async fn tables_of_another_version_are_copied_unchanged() {
    let database = Database::new();
    drop(database.open());
    database
        .raw()
        .batch_execute("INSERT INTO __diesel_schema_migrations VALUES ('99999999999999', 0)")
        .unwrap();
    taken(&database, "copy.db").unwrap();
    let copy = DatabaseFile::at(beside(&database, "copy.db")).unwrap();
    let refused = SqliteStore::open(&copy, &options(PATIENCE)).err().unwrap();
    assert!(matches!(refused, OpenError::Newer { .. }), "{refused}");
}
