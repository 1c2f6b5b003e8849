//! Consistent backups of a database in use.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use tempfile::{NamedTempFile, TempDir};

use crate::connection::{self, Task};
use crate::database_file::{Contents, DatabaseFile};
use crate::deadline::Deadline;
use crate::open_error::OpenError;
use crate::sql_errors::{is_damaged, is_unwritable};

/// What the name of the folder of an unfinished copy begins with. It identifies the leftovers of a killed program.
const PARTIAL_PREFIX: &str = ".signpost-backup-";

/// A folder of an unfinished copy in which nothing was written for this long is a leftover.
const LEFTOVER_AGE: Duration = Duration::from_hours(6);

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
    /// The database is damaged, so that it cannot be copied.
    #[error(
        "cannot back up {path}, because it is damaged ({finding}); keep the backups that you have, and check the disk"
    )]
    DamagedSource {
        /// The database.
        path: PathBuf,
        /// The first problem that SQLite found.
        finding: String,
    },
    /// SQLite could not copy the database or read the copy.
    #[error("cannot write the backup {path}: {source}{}", advice(source))]
    Copy {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: diesel::result::Error,
    },
    /// The copy is damaged, so most likely the database is too.
    #[error(
        "the copy of {path} is damaged ({finding}), and was thrown away; the file itself may be \
         damaged: keep the backups that you have, and check the disk"
    )]
    Damaged {
        /// The database that was copied.
        path: PathBuf,
        /// The first problem that SQLite found.
        finding: String,
    },
}

/// What to do about a failed copy of an intact database. Diesel hides SQLite's error code, so the message decides.
fn advice(error: &diesel::result::Error) -> &'static str {
    if is_unwritable(error) { "; check that the disk works and has room for it" } else { "" }
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
    delete_leftovers_beside(target);
    checked_copy_of(file, target, patience)?.publish()
}

/// Copies the database like [`back_up`], and its clicks to a file beside `target` without the keys of visitors' hashes (D48).
/// The second backup is that of the clicks; `None` if the database has none yet.
///
/// Neither copy gets its name before both are complete and checked, and the database gets its name last. So a file named
/// `target` always has its clicks beside it.
pub fn back_up_with_clicks(
    database: &DatabaseFile,
    target: &Path,
    patience: Duration,
) -> Result<(Backup, Option<Backup>), BackupError> {
    delete_leftovers_beside(target);
    let copy = checked_copy_of(database, target, patience)?;
    let clicks = database.of_clicks();
    if !clicks.holds_something() {
        return Ok((copy.publish()?, None));
    }
    let target_of_clicks = DatabaseFile::at(target)?.of_clicks();
    let clicks = checked_copy_of(&clicks, target_of_clicks.path(), patience)?.publish()?;
    match copy.publish() {
        Ok(backup) => Ok((backup, Some(clicks))),
        Err(error) => {
            remove_unfinished(&clicks.path);
            Err(error)
        }
    }
}

/// A complete and checked copy in a folder of its own, beside its target. Dropping it deletes the folder, with what SQLite left in
/// it.
struct CheckedCopy {
    partial: NamedTempFile,
    /// Dropped after the file in it.
    _folder: TempDir,
    target: PathBuf,
}

fn checked_copy_of(
    file: &DatabaseFile,
    target: &Path,
    patience: Duration,
) -> Result<CheckedCopy, BackupError> {
    let target = std::path::absolute(target)
        .map_err(|source| BackupError::NoFile { path: target.to_path_buf(), source })?;
    file.must_hold_a_database()?;
    // The end of the copy would report it too, but only after a long wait.
    if target.symlink_metadata().is_ok() {
        return Err(BackupError::Exists { path: target });
    }
    let mut source = connection::open(file, Task::Copy, patience, &Arc::new(Deadline::none()))?;
    match connection::has_tables(&mut source, file) {
        Ok(true) => {}
        Ok(false) => return Err(file.is_no_database().into()),
        Err(error) => return Err(copy_failed(&mut source, file, target, error)),
    }
    checked_copy(&mut source, file, &target).map_err(|error| match error {
        BackupError::Copy { path, source: error } => copy_failed(&mut source, file, path, error),
        other => other,
    })
}

/// Why SQLite could not copy `file`. Of a damaged database it may say that the disk is full, so the database itself is checked.
fn copy_failed(
    connection: &mut SqliteConnection,
    file: &DatabaseFile,
    target: PathBuf,
    error: diesel::result::Error,
) -> BackupError {
    let finding = match first_problem(connection) {
        Ok(finding) => finding,
        Err(error) => is_damaged(&error).then(|| error.to_string()),
    };
    match finding {
        Some(finding) => BackupError::DamagedSource { path: file.path().to_path_buf(), finding },
        None => BackupError::Copy { path: target, source: error },
    }
}

/// Copies the database `file` of a connection to `target`, an absolute path; see [`back_up`].
pub(crate) fn copy_to(
    source: &mut SqliteConnection,
    file: &DatabaseFile,
    target: &Path,
) -> Result<Backup, BackupError> {
    checked_copy(source, file, target)?.publish()
}

fn checked_copy(
    source: &mut SqliteConnection,
    file: &DatabaseFile,
    target: &Path,
) -> Result<CheckedCopy, BackupError> {
    let no_file = |source| BackupError::NoFile { path: target.to_path_buf(), source };
    let failed = |source| BackupError::Copy { path: target.to_path_buf(), source };
    let folder = target.parent().ok_or_else(|| no_file(io::ErrorKind::IsADirectory.into()))?;
    // Both are deleted when they are dropped. Only its owner may read the file.
    let partial_folder =
        tempfile::Builder::new().prefix(PARTIAL_PREFIX).tempdir_in(folder).map_err(no_file)?;
    let partial = NamedTempFile::new_in(&partial_folder).map_err(no_file)?;
    let copy = DatabaseFile::at(partial.path())?;
    diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(copy.as_str()).execute(source).map_err(failed)?;
    match file.contents() {
        Contents::Links => {}
        // A reader of the copy must not be able to try out addresses: the copy holds the hashes (D48).
        Contents::Clicks => remove_visitor_keys(&copy).map_err(failed)?,
    }
    if let Some(finding) = check(&copy).map_err(failed)? {
        return Err(BackupError::Damaged { path: file.path().to_path_buf(), finding });
    }

    partial.as_file().sync_all().map_err(no_file)?;
    Ok(CheckedCopy { partial, _folder: partial_folder, target: target.to_path_buf() })
}

/// Deletes what killed programs left in the folder of `target`. The copies of clicks among it may hold keys of visitors' hashes
/// (D48).
fn delete_leftovers_beside(target: &Path) {
    let target = std::path::absolute(target);
    let Some(Ok(entries)) = target.ok().as_deref().and_then(Path::parent).map(fs::read_dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with(PARTIAL_PREFIX)
            && is_unchanged_since(&path, LEFTOVER_AGE)
            && let Err(error) = fs::remove_dir_all(&path)
        {
            tracing::warn!(path = %path.display(), %error, "what a killed backup has left could not be deleted");
        }
    }
}

/// Whether neither a folder nor a file in it was changed within this time. False if that is unknown.
fn is_unchanged_since(folder: &Path, age: Duration) -> bool {
    let is_old = |metadata: io::Result<fs::Metadata>| {
        let changed = metadata.and_then(|metadata| metadata.modified());
        changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|elapsed| elapsed >= age))
    };
    let files_are_old = fs::read_dir(folder)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_old(entry.metadata()))));
    is_old(folder.symlink_metadata()) && files_are_old
}

impl CheckedCopy {
    /// Gives the copy its name.
    fn publish(self) -> Result<Backup, BackupError> {
        let Self { partial, _folder, target } = self;
        let no_file = |source| BackupError::NoFile { path: target.clone(), source };
        let bytes = partial.as_file().metadata().map_err(no_file)?.len();
        partial.persist_noclobber(&target).map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Exists { path: target.clone() },
            _ => no_file(refused.error),
        })?;
        // The new name must survive a power failure too.
        let synced = target.parent().map_or(Ok(()), sync_folder);
        synced.map_err(|error| {
            remove_unfinished(&target);
            no_file(error)
        })?;
        Ok(Backup { path: target, bytes })
    }
}

/// Deletes a part of a backup that failed.
fn remove_unfinished(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        tracing::warn!(path = %path.display(), %error, "a part of a backup that failed could not be deleted");
    }
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

/// The first problem in the file of a connection.
fn first_problem(connection: &mut SqliteConnection) -> QueryResult<Option<String>> {
    let Finding { integrity_check } =
        diesel::sql_query("PRAGMA integrity_check(1)").get_result(connection)?;
    // The first line only names the database.
    Ok((integrity_check != "ok").then(|| integrity_check.replace('\n', " ")))
}

/// The first problem of a copy.
fn check(copy: &DatabaseFile) -> QueryResult<Option<String>> {
    let mut connection = alone(copy)?;
    if let Some(problem) = first_problem(&mut connection)? {
        return Ok(Some(problem));
    }
    let Dangling { rows } = diesel::sql_query("SELECT count(*) AS rows FROM pragma_foreign_key_check")
        .get_result(&mut connection)?;
    Ok((rows > 0).then(|| format!("rows with dangling references: {rows}")))
}

#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems cannot open folders; their file systems journal names themselves.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
