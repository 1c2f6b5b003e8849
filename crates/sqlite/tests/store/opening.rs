//! Opening databases that are new, old, newer, broken, or another program's.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use signpost_app::ports::{AccountReads, Store};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, OpenError, SqliteStore, migrate, pending_migrations};

use super::database::{Database, account, insert, options};

const LIMIT: Duration = Duration::from_mins(2);

#[test]
fn pending_migrations_run_once() {
    let database = Database::new();
    let pending = pending_migrations(&database.file, LIMIT).unwrap();
    assert_eq!(pending[0], "0001_accounts");
    assert!(!database.file.path().exists(), "looking for pending migrations created a file");
    assert_eq!(migrate(&database.file, LIMIT).unwrap(), pending);
    assert_eq!(migrate(&database.file, LIMIT).unwrap(), Vec::<String>::new());
    assert_eq!(pending_migrations(&database.file, LIMIT).unwrap(), Vec::<String>::new());
}

#[test]
fn d61_missing_file_differs_from_an_unreadable_one() {
    let database = Database::new();
    let refused =
        |file: &DatabaseFile| SqliteStore::open_existing(file, &options(LIMIT)).map(drop).unwrap_err();
    assert!(matches!(refused(&database.file), OpenError::NoDatabase { .. }));
    // A path below a file is an error, unlike a missing file.
    drop(database.open());
    let below = DatabaseFile::at(database.file.path().join("signpost.db")).unwrap();
    assert!(matches!(refused(&below), OpenError::NoFile { .. }), "{}", refused(&below));
    assert!(SqliteStore::open_existing(&database.file, &options(LIMIT)).is_ok());
}

/// The folders of `migrations/sqlite` are numbered without gaps, so that two changes cannot silently take the same number.
#[test]
fn migrations_are_numbered_without_gaps() {
    let pending = pending_migrations(&Database::new().file, LIMIT).unwrap();
    for (name, number) in pending.iter().zip(1..) {
        assert!(name.starts_with(&format!("{number:04}_")), "{name} is number {number}");
    }
}

#[test]
fn every_table_is_strict() {
    let database = Database::new();
    drop(database.open());
    let loose = database.number(
        "SELECT count(*) AS number FROM pragma_table_list \
         WHERE schema = 'main' AND strict = 0 AND type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_\\_diesel%' ESCAPE '\\'",
    );
    assert_eq!(loose, 0);
    assert!(database.number("SELECT count(*) AS number FROM pragma_table_list WHERE strict = 1") >= 5);
}

#[test]
fn concurrent_starts_on_a_new_file_all_succeed() {
    for _ in 0..10 {
        let database = Database::new();
        let ran: usize = std::thread::scope(|scope| {
            let starts = [(); 8].map(|()| scope.spawn(|| migrate(&database.file, LIMIT).unwrap().len()));
            starts.into_iter().map(|start| start.join().unwrap()).sum()
        });
        assert_eq!(
            ran,
            migrate(&Database::new().file, LIMIT).unwrap().len(),
            "a migration did not run exactly once"
        );
    }
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_others_commits() {
    let database = Database::new();
    let (one, other) = (database.open(), database.open());
    let account = account(&one).await;
    assert!(other.account(account).await.unwrap().is_some());
    insert(&other, account, samples::redirect("from-the-other")).await;
    assert_eq!(one.usage(account).await.unwrap().unwrap().links, 1);
}

/// All three files contain key hashes and private notes.
#[tokio::test]
async fn only_its_owner_can_read_a_new_database() {
    let database = Database::new();
    let store = database.open();
    account(&store).await;
    for suffix in ["", "-wal", "-shm"] {
        let path = format!("{}{suffix}", database.file.path().display());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path}");
    }
}

#[tokio::test]
async fn dropping_the_store_closes_the_file_and_folds_the_log_into_it() {
    let database = Database::new();
    let store = Arc::new(database.open());
    account(&store).await;
    store.check().await.unwrap();
    let log = format!("{}-wal", database.file.path().display());
    assert!(std::fs::exists(&log).unwrap());
    drop(store);
    assert!(!std::fs::exists(&log).unwrap());
}

fn refusal(file: &DatabaseFile) -> OpenError {
    SqliteStore::open(file, &options(LIMIT)).map(drop).unwrap_err()
}

#[test]
fn database_of_a_newer_version_is_rejected_and_unchanged() {
    let database = Database::new();
    drop(database.open());
    database.raw().batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')").unwrap();
    let before = std::fs::read(database.file.path()).unwrap();
    let error = refusal(&database.file);
    assert!(matches!(&error, OpenError::Newer { versions, .. } if versions == &["9999"]), "{error}");
    assert!(error.to_string().contains("newer version"), "{error}");
    assert!(pending_migrations(&database.file, LIMIT).is_err());
    assert_eq!(std::fs::read(database.file.path()).unwrap(), before);
}

#[test]
fn database_of_another_program_is_rejected_and_unchanged() {
    let database = Database::new();
    database.raw().batch_execute("CREATE TABLE recipes (name TEXT)").unwrap();
    let before = std::fs::read(database.file.path()).unwrap();
    assert!(matches!(refusal(&database.file), OpenError::Foreign { .. }));
    assert!(matches!(pending_migrations(&database.file, LIMIT), Err(OpenError::Foreign { .. })));
    assert_eq!(std::fs::read(database.file.path()).unwrap(), before);
}

/// A program that could only read would start and then fail at every request.
#[test]
fn read_only_database_is_rejected() {
    let database = Database::new();
    drop(database.open());
    let mut permissions = database.file.path().metadata().unwrap().permissions();
    permissions.set_mode(0o444);
    std::fs::set_permissions(database.file.path(), permissions).unwrap();
    let error = refusal(&database.file);
    assert!(matches!(error, OpenError::NoFile { .. }), "{error}");
}

#[test]
fn file_without_a_database_is_rejected_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "These are notes, and there are enough of them to fill a header, or so we hope. ".repeat(9),
    )
    .unwrap();
    for (path, expected) in [
        (text, "is an intact SQLite database"),
        (folder.path().to_path_buf(), "check that"),
        (folder.path().join("missing/x.db"), "check that its folder exists"),
    ] {
        let message = refusal(&DatabaseFile::at(&path).unwrap()).to_string();
        assert!(message.contains(expected) && message.contains(path.to_str().unwrap()), "{message}");
    }
}

/// D61: an invalid setting stops the start with a message that names it.
#[test]
fn d61_url_without_a_file_is_rejected() {
    for url in [
        "",
        "signpost.db",
        "postgres://x/y",
        "sqlite:x.db",
        "sqlite://",
        "sqlite://:memory:",
        "sqlite://x?mode=ro",
    ] {
        let error = DatabaseFile::from_url(url).unwrap_err();
        assert!(error.to_string().contains(&format!("`{url}`")) || url == "sqlite://", "{error}");
    }
    let file = DatabaseFile::from_url("sqlite://signpost.db").unwrap();
    assert_eq!(file.path(), std::env::current_dir().unwrap().join("signpost.db"));
}
