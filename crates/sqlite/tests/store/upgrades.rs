//! Copies from before an upgrade, and the way back to them (D207).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use signpost_app::ports::AccountReads;
use signpost_domain::AccountId;
use signpost_sqlite::{
    DatabaseFile, OpenError, RestoreError, SqliteClickStore, UpgradeCopyError, copies_before_upgrades,
    copy_before_upgrade, restore_before,
};

use super::database::{Database, account, options};

const PATIENCE: Duration = Duration::from_mins(1);

/// Undoes a migration of links, so that the database is as an earlier version left it.
const WITHOUT_LAST_OF_LINKS: &str =
    "DROP INDEX custom_domains_proven; DELETE FROM __diesel_schema_migrations WHERE version = '0030'";

/// Undoes a migration of clicks.
const WITHOUT_LAST_OF_CLICKS: &str =
    "DROP TABLE planned_click_deletions; DELETE FROM __diesel_schema_migrations WHERE version = '0002'";

fn age(database: &Database) {
    database.raw().batch_execute(WITHOUT_LAST_OF_LINKS).unwrap();
}

fn age_clicks(database: &Database) {
    let clicks = database.file.of_clicks();
    drop(SqliteClickStore::open(&database.file, &options(PATIENCE)).unwrap());
    let mut connection = SqliteConnection::establish(clicks.path().to_str().unwrap()).unwrap();
    connection.batch_execute(WITHOUT_LAST_OF_CLICKS).unwrap();
}

/// The names of the copies that an upgrade makes.
fn copied(database: &Database, version: &str) -> Vec<String> {
    let backups = copy_before_upgrade(&database.file, version, PATIENCE).unwrap();
    backups.iter().map(|backup| backup.path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

fn beside(database: &Database, name: &str) -> PathBuf {
    database.file.path().with_file_name(name)
}

/// The versions that have copies, the oldest first.
fn versions(database: &Database) -> Vec<String> {
    copies_before_upgrades(&database.file).unwrap().into_iter().map(|copy| copy.version).collect()
}

async fn add_account(database: &Database) -> AccountId {
    account(&database.open()).await
}

async fn has(file: &DatabaseFile, account: AccountId) -> bool {
    let store = signpost_sqlite::SqliteStore::open(file, &options(PATIENCE)).unwrap();
    store.account(account).await.unwrap().is_some()
}

#[tokio::test]
async fn d207_restore_returns_to_before_the_upgrade_and_keeps_what_came_later() {
    let database = Database::new();
    let earlier = add_account(&database).await;
    age(&database);
    assert_eq!(copied(&database, "2.0.0"), ["test-before-2.0.0.db"]);
    let later = add_account(&database).await;

    let restoration = restore_before(&database.file, "2.0.0", PATIENCE).unwrap();
    let kept = beside(&database, "test-after-2.0.0.db");
    assert_eq!(restoration.files.len(), 1);
    assert_eq!(restoration.files[0].kept.as_ref(), Some(&kept));
    assert!(has(&database.file, earlier).await && !has(&database.file, later).await);
    let kept = DatabaseFile::at(kept).unwrap();
    assert!(has(&kept, earlier).await && has(&kept, later).await);
    assert!(versions(&database).is_empty());
}

#[tokio::test]
async fn d207_clicks_are_copied_and_restored_if_they_are_migrated() {
    let database = Database::new();
    add_account(&database).await;
    age_clicks(&database);
    assert_eq!(copied(&database, "2.0.0"), ["test-before-2.0.0-clicks.db"]);
    age(&database);
    assert_eq!(copied(&database, "2.0.0"), ["test-before-2.0.0.db", "test-before-2.0.0-clicks.db"]);
    let later = add_account(&database).await;
    drop(SqliteClickStore::open(&database.file, &options(PATIENCE)).unwrap());

    let files = restore_before(&database.file, "2.0.0", PATIENCE).unwrap().files;
    let names: Vec<_> = files.iter().map(|restored| restored.file.clone()).collect();
    assert_eq!(names, [database.file.path().to_owned(), database.file.of_clicks().path().to_owned()]);
    assert!(!has(&database.file, later).await);
    assert!(beside(&database, "test-after-2.0.0-clicks.db").exists());
}

/// A later upgrade may have migrated only the clicks, which the earlier version could not read.
#[tokio::test]
async fn d207_restore_also_undoes_later_upgrades() {
    let database = Database::new();
    age_clicks(&database);
    let earlier = add_account(&database).await;
    age(&database);
    // As if version 2 had known the clicks as they are.
    let clicks = database.file.of_clicks();
    let set_aside = beside(&database, "aside");
    fs::rename(clicks.path(), &set_aside).unwrap();
    assert_eq!(copied(&database, "2.0.0"), ["test-before-2.0.0.db"]);
    let later = add_account(&database).await;
    fs::rename(set_aside, clicks.path()).unwrap();
    assert_eq!(copied(&database, "3.0.0"), ["test-before-3.0.0-clicks.db"]);
    drop(SqliteClickStore::open(&database.file, &options(PATIENCE)).unwrap());

    assert_eq!(restore_before(&database.file, "2.0.0", PATIENCE).unwrap().files.len(), 2);
    assert!(versions(&database).is_empty());
    assert!(has(&database.file, earlier).await && !has(&database.file, later).await);
}

#[tokio::test]
async fn d207_nothing_is_copied_without_a_migration_or_before_the_first_one() {
    let database = Database::new();
    assert!(copied(&database, "2.0.0").is_empty());
    add_account(&database).await;
    assert!(copied(&database, "2.0.0").is_empty());
}

#[tokio::test]
async fn d207_copies_of_the_last_two_upgrades_are_kept() {
    let database = Database::new();
    for version in ["2.0.0", "2.1.0", "10.0.0"] {
        add_account(&database).await;
        age(&database);
        copied(&database, version);
    }
    assert_eq!(versions(&database), ["2.1.0", "10.0.0"]);
}

/// The first attempt migrated the links and then failed at the clicks.
#[tokio::test]
async fn d207_repeated_upgrade_keeps_the_copy_of_a_file_that_is_migrated_already() {
    let database = Database::new();
    let earlier = add_account(&database).await;
    age(&database);
    age_clicks(&database);
    assert_eq!(copied(&database, "2.0.0").len(), 2);
    let later = add_account(&database).await;
    assert_eq!(copied(&database, "2.0.0"), ["test-before-2.0.0-clicks.db"]);
    restore_before(&database.file, "2.0.0", PATIENCE).unwrap();
    assert!(has(&database.file, earlier).await && !has(&database.file, later).await);
}

/// A clock that was ahead, or a file that was copied, has any time.
#[tokio::test]
async fn d207_copies_are_ordered_by_version_and_not_by_time() {
    let database = Database::new();
    for version in ["9.0.0", "10.0.0"] {
        add_account(&database).await;
        age(&database);
        copied(&database, version);
        let copy =
            fs::File::options().write(true).open(beside(&database, &format!("test-before-{version}.db")));
        let year = Duration::from_hours(24 * 365);
        copy.unwrap().set_modified(std::time::SystemTime::now() + year).unwrap();
    }
    add_account(&database).await;
    age(&database);
    copied(&database, "11.0.0");
    assert_eq!(versions(&database), ["10.0.0", "11.0.0"]);
}

/// Root may upgrade what belongs to the service.
#[cfg(unix)]
#[tokio::test]
async fn d207_copy_has_the_rights_of_the_database() {
    use std::os::unix::fs::PermissionsExt as _;

    let database = Database::new();
    add_account(&database).await;
    age(&database);
    fs::set_permissions(database.file.path(), fs::Permissions::from_mode(0o640)).unwrap();
    copied(&database, "2.0.0");
    let copy = fs::metadata(beside(&database, "test-before-2.0.0.db")).unwrap();
    assert_eq!(copy.permissions().mode() & 0o777, 0o640);
}

/// SQLite would apply the log of the lost file to the copy.
#[tokio::test]
async fn d207_missing_or_damaged_database_is_restored_without_its_log() {
    for damage in [None, Some("no database, although it is as long as a header".repeat(100))] {
        let database = Database::new();
        let earlier = add_account(&database).await;
        age(&database);
        copied(&database, "2.0.0");
        let path = database.file.path();
        match damage {
            None => fs::remove_file(path).unwrap(),
            Some(bytes) => fs::write(path, bytes).unwrap(),
        }
        fs::write(beside(&database, "test.db-wal"), "log of the lost file").unwrap();
        restore_before(&database.file, "2.0.0", PATIENCE).unwrap();
        assert!(!beside(&database, "test.db-wal").exists());
        assert!(has(&database.file, earlier).await);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn d207_restore_refuses_to_replace_a_symbolic_link() {
    let database = Database::new();
    add_account(&database).await;
    let real = beside(&database, "real.db");
    fs::rename(database.file.path(), &real).unwrap();
    std::os::unix::fs::symlink(&real, database.file.path()).unwrap();
    age(&database);
    copied(&database, "2.0.0");
    let refused = restore_before(&database.file, "2.0.0", PATIENCE).unwrap_err();
    assert!(matches!(refused, RestoreError::SymbolicLink { .. }), "{refused}");
}

/// The database was restored, and is upgraded again a week later.
#[tokio::test]
async fn d207_repeated_upgrade_replaces_its_copy() {
    let database = Database::new();
    add_account(&database).await;
    age(&database);
    copied(&database, "2.0.0");
    let meanwhile = add_account(&database).await;
    age(&database);
    copied(&database, "2.0.0");
    restore_before(&database.file, "2.0.0", PATIENCE).unwrap();
    assert!(has(&database.file, meanwhile).await);
}

#[tokio::test]
async fn d207_restore_refuses_a_database_in_use() {
    let database = Database::new();
    age_clicks(&database);
    let store = database.open();
    account(&store).await;
    age(&database);
    copied(&database, "2.0.0");
    let refused = restore_before(&database.file, "2.0.0", Duration::ZERO).unwrap_err();
    assert!(matches!(refused, RestoreError::InUse { .. }), "{refused}");
    drop(store);
    restore_before(&database.file, "2.0.0", PATIENCE).unwrap();
}

#[tokio::test]
async fn d207_restore_names_the_versions_with_copies() {
    let database = Database::new();
    add_account(&database).await;
    age(&database);
    copied(&database, "2.0.0");
    let refused = restore_before(&database.file, "1.0.0", PATIENCE).unwrap_err();
    assert!(matches!(&refused, RestoreError::NoCopy { known, .. } if known == &["2.0.0"]), "{refused}");
}

#[tokio::test]
async fn d207_restore_overwrites_no_database_that_an_earlier_one_has_kept() {
    let database = Database::new();
    add_account(&database).await;
    age(&database);
    copied(&database, "2.0.0");
    fs::write(beside(&database, "test-after-2.0.0.db"), "kept").unwrap();
    let refused = restore_before(&database.file, "2.0.0", PATIENCE).unwrap_err();
    assert!(matches!(refused, RestoreError::KeptAlready { .. }), "{refused}");
    assert_eq!(versions(&database), ["2.0.0"]);
}

/// The program may have stopped after the exchange, before it deleted the name of the copy.
#[tokio::test]
async fn d207_repeated_restore_finishes_an_interrupted_one() {
    let database = Database::new();
    let earlier = add_account(&database).await;
    age(&database);
    copied(&database, "2.0.0");
    add_account(&database).await;
    restore_before(&database.file, "2.0.0", PATIENCE).unwrap();
    fs::hard_link(database.file.path(), beside(&database, "test-before-2.0.0.db")).unwrap();
    restore_before(&database.file, "2.0.0", PATIENCE).unwrap();
    assert!(versions(&database).is_empty());
    assert!(has(&database.file, earlier).await);
}

#[tokio::test]
async fn d207_refusal_of_a_newer_database_names_the_way_back() {
    let database = Database::new();
    add_account(&database).await;
    age(&database);
    copied(&database, "2.0.0");
    database.raw().batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')").unwrap();
    let refused = copy_before_upgrade(&database.file, "1.0.0", PATIENCE).unwrap_err();
    assert!(refused.to_string().contains("`signpost restore --before 2.0.0`"), "{refused}");
    fs::remove_file(beside(&database, "test-before-2.0.0.db")).unwrap();
    let refused = copy_before_upgrade(&database.file, "1.0.0", PATIENCE).unwrap_err();
    assert!(matches!(refused, UpgradeCopyError::Open(OpenError::Newer { .. })), "{refused}");
}
