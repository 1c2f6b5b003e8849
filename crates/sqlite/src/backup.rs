//! Consistent backups of a database in use.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::connection::{self, Deadline, Task};
use crate::database_file::{Contents, DatabaseFile};
use crate::open_error::OpenError;

/// The temporary name of an unfinished copy. It identifies the leftovers of a killed program.
const PARTIAL_PREFIX: &str = ".signpost-backup-";

/// A finished copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// The absolute path of the copy.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// Why no backup was made. No part of a copy is left behind, and the database is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The target file exists. A backup never overwrites a file.
    #[error("{path} exists already, and a backup never overwrites a file; name another file")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// An operation of the operating system failed.
    #[error("cannot write the backup {path}: {source}; check that its folder exists, and may be written to")]
    NoFile {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// SQLite could not copy the database or read the copy.
    #[error("cannot write the backup {path}: {source}; check that the disk has room for it")]
    Copy {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: diesel::result::Error,
    },
    /// The copy is damaged, so most likely the database is too.
    #[error(
        "the copy of the database is damaged ({finding}), and was thrown away; the database itself may be \
         damaged: keep the backups that you have, and check the disk"
    )]
    Damaged {
        /// The first problem that SQLite found.
        finding: String,
    },
}

/// Copies the database to `target`, which must not exist, and checks the copy. It contains everything that was committed
/// before the call, and concurrent transactions wholly or not at all. Like the database, only its owner may read it. This
/// call blocks until the copy is done; `patience` only bounds the wait for another program's lock when the database is
/// opened.
///
/// `VACUUM INTO` makes the copy. It reads one snapshot, so it neither blocks writers nor restarts when they
/// write. SQLite's online backup API would restart at every commit of another process. It is a statement, so
/// it needs no `unsafe` call. While it runs, the write-ahead log is not reused and grows with the writes.
///
/// The copy is written under a temporary name beside `target`, checked, synced, and then renamed, so a file named `target`
/// is complete. Tables are not migrated: a database can be backed up as it is before an upgrade.
pub fn back_up(file: &DatabaseFile, target: &Path, patience: Duration) -> Result<Backup, BackupError> {
    let target = std::path::absolute(target)
        .map_err(|source| BackupError::NoFile { path: target.to_path_buf(), source })?;
    let failed = |source| BackupError::Copy { path: target.clone(), source };
    file.must_hold_a_database()?;
    // The end of the copy would report it too, but only after a long wait.
    if target.symlink_metadata().is_ok() {
        return Err(BackupError::Exists { path: target });
    }
    let mut source = connection::open(file, Task::Copy, patience, &Arc::new(Deadline::none()))?;
    if !connection::has_tables(&mut source, file).map_err(failed)? {
        return Err(file.is_no_database().into());
    }
    copy_to(&mut source, &target, file.contents())
}

/// Copies the database of a connection to `target`, an absolute path; see [`back_up`].
pub(crate) fn copy_to(
    source: &mut SqliteConnection,
    target: &Path,
    contents: Contents,
) -> Result<Backup, BackupError> {
    let no_file = |source| BackupError::NoFile { path: target.to_path_buf(), source };
    let failed = |source| BackupError::Copy { path: target.to_path_buf(), source };
    let folder = target.parent().ok_or_else(|| no_file(io::ErrorKind::IsADirectory.into()))?;
    // Only its owner may read it, and it is deleted when it is dropped.
    let partial = tempfile::Builder::new().prefix(PARTIAL_PREFIX).tempfile_in(folder).map_err(no_file)?;
    let copy = DatabaseFile::at(partial.path())?;
    diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(copy.as_str()).execute(source).map_err(failed)?;
    match contents {
        Contents::Links => {}
        // A reader of the copy must not be able to try out addresses: the copy holds the hashes (D48).
        Contents::Clicks => remove_visitor_keys(&copy).map_err(failed)?,
    }
    check(&copy).map_err(failed)?.map_or(Ok(()), |finding| Err(BackupError::Damaged { finding }))?;

    partial.as_file().sync_all().map_err(no_file)?;
    let whole = partial.persist_noclobber(target).map_err(|refused| match refused.error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists { path: target.to_path_buf() },
        _ => no_file(refused.error),
    })?;
    // The new name must survive a power failure too.
    sync_folder(folder).map_err(no_file)?;
    let bytes = whole.metadata().map_err(no_file)?.len();
    Ok(Backup { path: target.to_path_buf(), bytes })
}

/// Copies the clicks of a database to a file beside `target`, the copy of the database itself, like [`back_up`], but without
/// the keys of visitors' hashes (D48). `None` if the database has no clicks yet.
pub fn back_up_clicks(
    database: &DatabaseFile,
    target: &Path,
    patience: Duration,
) -> Result<Option<Backup>, BackupError> {
    let file = database.of_clicks();
    if !file.holds_something() {
        return Ok(None);
    }
    back_up(&file, DatabaseFile::at(target)?.of_clicks().path(), patience).map(Some)
}

#[derive(QueryableByName)]
struct Finding {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

#[derive(QueryableByName)]
struct Dangling {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

/// Overwrites the keys with zeros, without a journal that would hold them on the disk.
fn remove_visitor_keys(copy: &DatabaseFile) -> QueryResult<()> {
    alone(copy)?.batch_execute(
        "PRAGMA journal_mode = MEMORY; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON; DELETE FROM visitor_keys",
    )
}

/// A connection without write-ahead logging, so that the copy stays a single file.
fn alone(copy: &DatabaseFile) -> QueryResult<SqliteConnection> {
    SqliteConnection::establish(copy.as_str()).map_err(|error| {
        diesel::result::Error::DatabaseError(
            diesel::result::DatabaseErrorKind::UnableToSendCommand,
            Box::new(error.to_string()),
        )
    })
}

/// The first problem of a copy.
fn check(copy: &DatabaseFile) -> QueryResult<Option<String>> {
    let mut connection = alone(copy)?;
    let Finding { integrity_check } =
        diesel::sql_query("PRAGMA integrity_check(1)").get_result(&mut connection)?;
    if integrity_check != "ok" {
        return Ok(Some(integrity_check));
    }
    let Dangling { rows } = diesel::sql_query("SELECT count(*) AS rows FROM pragma_foreign_key_check")
        .get_result(&mut connection)?;
    Ok((rows > 0).then(|| format!("rows with dangling references: {rows}")))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems cannot open folders; their file systems journal names themselves.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
