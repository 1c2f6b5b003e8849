//! A copy of the database that can be relied on, taken while others use it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::connection::{self, Task};
use crate::database_file::DatabaseFile;
use crate::deadline::Deadline;
use crate::open_error::OpenError;

/// How the copy is called until it is whole. What a killed program leaves behind is recognised by it.
const PARTIAL_PREFIX: &str = ".signpost-backup-";

/// A finished copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// Why no copy was made. Nothing of it is left behind, and the database is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file to write is there already. A backup never replaces anything.
    #[error("{path} is there already, and a backup replaces nothing; name another file")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused something.
    #[error("cannot write the backup {path}: {source}; check that its folder exists, and may be written to")]
    NoFile {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// SQLite could not copy the database, or read the copy.
    #[error("cannot write the backup {path}: {source}; check that the disk has room for it")]
    Copy {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: diesel::result::Error,
    },
    /// The copy is damaged, so most likely the database is too.
    #[error(
        "the copy of the database is damaged ({finding}), and was thrown away; the database itself may be \
         damaged: keep the backups that you have, and check the disk"
    )]
    Damaged {
        /// The first thing that SQLite found.
        finding: String,
    },
}

/// Copies the database to `target`, which must not exist, and checks the copy. Everything that was committed before the
/// call is in it; what is committed meanwhile is in it wholly or not at all. The copy belongs to nobody but its owner,
/// like the database. This blocks for as long as it takes; `patience` bounds only the wait for another program's lock
/// while the database is opened.
///
/// `VACUUM INTO` makes the copy. It reads one snapshot from beginning to end, so that it neither keeps writers waiting nor
/// begins anew when they write, as SQLite's online backup interface does for every commit of another process; and it is
/// a statement, for which no `unsafe` call is needed. While it runs, the write-ahead log cannot be reused and grows by
/// what is written.
///
/// The copy is written under another name beside `target`, checked, synced, and only then given its name: a file
/// of that name is whole. Tables are not migrated, so a database is backed up as it is before an upgrade.
pub fn back_up(file: &DatabaseFile, target: &Path, patience: Duration) -> Result<Backup, BackupError> {
    let target = std::path::absolute(target)
        .map_err(|source| BackupError::NoFile { path: target.to_path_buf(), source })?;
    let no_file = |source| BackupError::NoFile { path: target.clone(), source };
    let failed = |source| BackupError::Copy { path: target.clone(), source };
    file.must_hold_a_database()?;
    // Known at the end, too; but nobody should wait that long to hear it.
    if target.symlink_metadata().is_ok() {
        return Err(BackupError::Exists { path: target });
    }
    let folder = target.parent().ok_or_else(|| no_file(io::ErrorKind::IsADirectory.into()))?.to_path_buf();

    let mut source = connection::open(file, Task::Copy, patience, &Arc::new(Deadline::none()))?;
    if !connection::has_tables(&mut source, file).map_err(failed)? {
        return Err(file.is_no_database().into());
    }
    // Only its owner may read it, and it goes when it is dropped.
    let partial = tempfile::Builder::new().prefix(PARTIAL_PREFIX).tempfile_in(&folder).map_err(no_file)?;
    let copy = DatabaseFile::at(partial.path())?;
    diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(copy.as_str()).execute(&mut source).map_err(failed)?;
    drop(source);
    check(&copy).map_err(failed)?.map_or(Ok(()), |finding| Err(BackupError::Damaged { finding }))?;

    partial.as_file().sync_all().map_err(no_file)?;
    let whole = partial.persist_noclobber(&target).map_err(|refused| match refused.error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists { path: target.clone() },
        _ => no_file(refused.error),
    })?;
    // The name is to survive a loss of power as well.
    sync_folder(&folder).map_err(no_file)?;
    let bytes = whole.metadata().map_err(no_file)?.len();
    Ok(Backup { path: target, bytes })
}

/// Copies the clicks of a database beside `target`, the copy of the database itself, as [`back_up`] does. `None` if the database
/// has no clicks yet.
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

/// The first thing that is wrong with a copy. It is opened without turning it to a write-ahead log, so that it stays a
/// single file.
fn check(copy: &DatabaseFile) -> QueryResult<Option<String>> {
    let mut connection = SqliteConnection::establish(copy.as_str()).map_err(|error| {
        diesel::result::Error::DatabaseError(
            diesel::result::DatabaseErrorKind::UnableToSendCommand,
            Box::new(error.to_string()),
        )
    })?;
    let Finding { integrity_check } =
        diesel::sql_query("PRAGMA integrity_check(1)").get_result(&mut connection)?;
    if integrity_check != "ok" {
        return Ok(Some(integrity_check));
    }
    let Dangling { rows } = diesel::sql_query("SELECT count(*) AS rows FROM pragma_foreign_key_check")
        .get_result(&mut connection)?;
    Ok((rows > 0).then(|| format!("rows that refer to nothing: {rows}")))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere folders cannot be opened, and a name is kept by the file system's own journal.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
