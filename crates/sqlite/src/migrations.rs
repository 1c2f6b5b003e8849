//! Running migrations.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use diesel::migration::{Migration, MigrationSource};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connection::{self, Task};
use crate::database_file::{Contents, DatabaseFile};
use crate::deadline::Deadline;
use crate::open_error::OpenError;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

const MIGRATIONS_OF_CLICKS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite-clicks");

/// Runs the pending migrations and returns their names in order. Creates a missing file.
///
/// All run in one transaction that holds the write lock from its start. If two programs start at once, one
/// migrates and the other finds nothing left to do. If one migration fails, all are rolled back.
///
/// [`OpenError::Newer`] if the database has a migration that this program does not know, [`OpenError::Foreign`] if it
/// belongs to another program. Both leave it untouched.
pub fn migrate(file: &DatabaseFile, time_limit: Duration) -> Result<Vec<String>, OpenError> {
    file.create_if_missing()?;
    let mut connection = connect(file, time_limit)?;
    run_pending(&mut connection, file).map_err(|refusal| refusal.into_open_error(file, time_limit))
}

fn run_pending(
    connection: &mut SqliteConnection,
    file: &DatabaseFile,
) -> Result<Vec<String>, MigrationRefusal> {
    // Usually nothing is pending, and then there is no need to wait for another program's transaction.
    if pending(connection, file)?.is_empty() {
        return Ok(Vec::new());
    }
    connection.immediate_transaction(|connection| {
        let pending = not_yet_run(connection, file)?;
        for migration in &pending {
            connection.run_migration(migration).map_err(|source| failed(file, source))?;
        }
        if !pending.is_empty() {
            refuse_dangling_references(connection, file)?;
        }
        Ok(names(&pending))
    })
}

/// The names of the pending migrations, in order. Changes nothing and creates no file.
///
/// # Errors
/// As those of [`migrate`].
pub fn pending_migrations(file: &DatabaseFile, time_limit: Duration) -> Result<Vec<String>, OpenError> {
    if file.holds_something() {
        let mut connection = connect(file, time_limit)?;
        let pending = pending(&mut connection, file);
        return pending.map_err(|refusal| refusal.into_open_error(file, time_limit));
    }
    Ok(names(&all(file)?))
}

fn pending(connection: &mut SqliteConnection, file: &DatabaseFile) -> Result<Vec<String>, MigrationRefusal> {
    // Diesel's list of applied migrations creates its table if it is missing, so it is only read if there are tables.
    let pending =
        if connection::has_tables(connection, file)? { not_yet_run(connection, file)? } else { all(file)? };
    Ok(names(&pending))
}

/// Why migrating stopped: for a reason to report to the operator, or because a statement failed.
enum MigrationRefusal {
    Open(OpenError),
    Sql(diesel::result::Error),
}

impl MigrationRefusal {
    fn into_open_error(self, file: &DatabaseFile, waited: Duration) -> OpenError {
        let path = file.path().to_path_buf();
        match self {
            Self::Open(error) => error,
            Self::Sql(source) => OpenError::of_statement(path, source, waited),
        }
    }
}

impl From<diesel::result::Error> for MigrationRefusal {
    fn from(error: diesel::result::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<OpenError> for MigrationRefusal {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

fn failed(file: &DatabaseFile, source: Box<dyn Error + Send + Sync>) -> OpenError {
    OpenError::Migration { path: file.path().to_path_buf(), source }
}

fn connect(file: &DatabaseFile, time_limit: Duration) -> Result<SqliteConnection, OpenError> {
    connection::open(file, Task::Migrate, time_limit, &Arc::new(Deadline::none()))
}

fn all(file: &DatabaseFile) -> Result<Vec<Box<dyn Migration<Sqlite>>>, OpenError> {
    let migrations = match file.contents() {
        Contents::Links => MIGRATIONS,
        Contents::Clicks => MIGRATIONS_OF_CLICKS,
    };
    migrations.migrations().map_err(|source| failed(file, source))
}

/// The versions of all migrations that this program knows for the contents of a file.
pub(crate) fn all_versions(file: &DatabaseFile) -> Result<BTreeSet<String>, OpenError> {
    Ok(all(file)?.iter().map(|migration| version(migration.as_ref())).collect())
}

fn names(migrations: &[Box<dyn Migration<Sqlite>>]) -> Vec<String> {
    migrations.iter().map(|migration| migration.name().to_string()).collect()
}

fn version(migration: &dyn Migration<Sqlite>) -> String {
    migration.name().version().to_string()
}

fn not_yet_run(
    connection: &mut SqliteConnection,
    file: &DatabaseFile,
) -> Result<Vec<Box<dyn Migration<Sqlite>>>, MigrationRefusal> {
    let all = all(file)?;
    let known = all_versions(file)?;
    let applied: BTreeSet<String> = connection
        .applied_migrations()
        .map_err(|source| failed(file, source))?
        .iter()
        .map(ToString::to_string)
        .collect();
    let unknown: Vec<String> = applied.difference(&known).cloned().collect();
    if !unknown.is_empty() {
        return Err(OpenError::Newer { path: file.path().to_path_buf(), versions: unknown }.into());
    }
    let pending = all.into_iter().filter(|migration| !applied.contains(&version(migration.as_ref())));
    Ok(pending.collect())
}

#[derive(QueryableByName, Debug)]
struct DanglingReference {
    #[diesel(sql_type = Text)]
    table: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    rowid: Option<i64>,
    #[diesel(sql_type = Text)]
    parent: String,
}

fn refuse_dangling_references(
    connection: &mut SqliteConnection,
    file: &DatabaseFile,
) -> Result<(), MigrationRefusal> {
    let dangling: Vec<DanglingReference> = diesel::sql_query("PRAGMA foreign_key_check").load(connection)?;
    let Some(DanglingReference { table, rowid, parent }) = dangling.first() else { return Ok(()) };
    let message = format!("{table} (row {rowid:?}) would have a dangling reference to {parent}");
    Err(failed(file, message.into()).into())
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    /// Foreign keys are off while migrations run; dangling references are found at the end.
    #[test]
    fn dangling_reference_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        migrate(&file, LIMIT).unwrap();
        let mut connection = connect(&file, LIMIT).unwrap();
        assert!(refuse_dangling_references(&mut connection, &file).is_ok());
        let orphan = "INSERT INTO groups (id, account_id, name, created_at, updated_at) \
                      VALUES (randomblob(16), randomblob(16), 'A', 0, 0)";
        connection.batch_execute(orphan).unwrap();
        let refused = refuse_dangling_references(&mut connection, &file)
            .map_err(|refusal| refusal.into_open_error(&file, LIMIT));
        let message = refused.unwrap_err().to_string();
        assert!(
            message.contains("groups") && message.contains("dangling reference to accounts"),
            "{message}"
        );
    }

    /// A program may have stopped between creating the file and filling it.
    #[test]
    fn empty_database_reports_pending_migrations_and_is_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        drop(connect(&file, LIMIT).unwrap());
        assert!(std::fs::metadata(file.path()).unwrap().len() > 0);
        let pending = pending_migrations(&file, LIMIT).unwrap();
        assert!(!pending.is_empty());
        assert_eq!(migrate(&file, LIMIT).unwrap(), pending);
    }

    /// D60: every command works beside a running server, even a busy one.
    #[test]
    fn d60_up_to_date_database_is_opened_without_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        migrate(&file, LIMIT).unwrap();
        let mut other = connect(&file, LIMIT).unwrap();
        other.batch_execute("BEGIN IMMEDIATE").unwrap();
        assert_eq!(migrate(&file, Duration::ZERO).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn new_database_locked_by_another_program_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        let mut other = connect(&file, LIMIT).unwrap();
        other.batch_execute("BEGIN IMMEDIATE").unwrap();
        let error = migrate(&file, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    }
}
