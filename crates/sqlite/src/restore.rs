//! Undoing an upgrade: putting the copies from before it in the place of the database (D207).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::backup::sync_folder;
use crate::database_file::DatabaseFile;
use crate::sql_errors::{is_busy, is_damaged};
use crate::upgrade_copies::{SQLITES_OWN, UpgradeCopy, copies_before_upgrades};

/// What the name of a database that a restored one has replaced adds to its former name: `signpost-after-1.2.0.db`.
const AFTER: &str = "-after-";

/// A file that was replaced by its copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The file, which has the content of the copy now.
    pub file: PathBuf,
    /// The name under which its former content is kept; `None` if there was none.
    pub kept: Option<PathBuf>,
}

/// What a call of [`restore_before`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// When the copies were made.
    pub made: SystemTime,
    /// The database, its clicks, or both.
    pub files: Vec<Restored>,
}

/// Why nothing was restored. The database is unchanged, or a repeated call finishes what this one began.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// No copy is named after the version.
    #[error("{} has no copy from before an upgrade to `{version}`; {}", folder.display(), known_versions(known))]
    NoCopy {
        /// The folder of the database.
        folder: PathBuf,
        /// The version.
        version: String,
        /// The versions that have copies, the oldest first.
        known: Vec<String>,
    },
    /// A program uses the database.
    #[error("a program uses {}; stop every `signpost` that runs on this database, then repeat the command", path.display())]
    InUse {
        /// The database or its clicks.
        path: PathBuf,
    },
    /// SQLite could not close the database for the exchange.
    #[error("cannot set {} aside: {source}; check that this user may write to it and to its folder", path.display())]
    Unusable {
        /// The database or its clicks.
        path: PathBuf,
        /// What SQLite says.
        source: diesel::result::Error,
    },
    /// The database is elsewhere.
    #[error(
        "{} is a symbolic link, and restoring would replace the link; name the file that it leads to in `database-url`",
        path.display()
    )]
    SymbolicLink {
        /// The link.
        path: PathBuf,
    },
    /// An earlier restoration has kept a database under the same name.
    #[error(
        "{} has kept a database since an earlier restoration; move it elsewhere or delete it, then repeat the command",
        path.display()
    )]
    KeptAlready {
        /// The file.
        path: PathBuf,
    },
    /// An operation of the operating system failed.
    #[error("cannot put the copy in the place of {}: {source}", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

fn known_versions(known: &[String]) -> String {
    match known {
        [] => "there are no copies of any upgrade".to_owned(),
        known => format!("there are copies from before {}", known.join(", ")),
    }
}

/// Undoes the upgrade to `version`, and every later one: puts the copies from before it in the place of the database and of its
/// clicks, as far as they were migrated since. The replaced files stay beside them, named after the version. Waits up to
/// `patience` for the locks of other programs.
///
/// If the program or the machine stops in between, the database is the old or the restored one, and a repeated call finishes.
pub fn restore_before(
    database: &DatabaseFile,
    version: &str,
    patience: Duration,
) -> Result<Restoration, RestoreError> {
    let folder = database.folder();
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| RestoreError::NoFile { path, source }
    };
    let mut copies = copies_before_upgrades(database).map_err(failed(folder))?;
    let Some(position) = copies.iter().position(|copy| copy.version == version) else {
        let known = copies.into_iter().map(|copy| copy.version).collect();
        return Err(RestoreError::NoCopy {
            folder: folder.to_path_buf(),
            version: version.to_owned(),
            known,
        });
    };
    let since = copies.split_off(position);
    let made = since.first().map_or(SystemTime::UNIX_EPOCH, |copy| copy.made);
    let exchanges: Vec<Exchange> = [database.clone(), database.of_clicks()]
        .into_iter()
        .filter_map(|file| {
            let contents = file.contents();
            let copy = since.iter().find_map(|copy| copy.of(contents))?.to_path_buf();
            Some(Exchange { file, kept: database.variant(AFTER, version, contents), copy })
        })
        .collect();
    // All are locked before the first is replaced, and until the last one is.
    if let Some(Exchange { file, .. }) = exchanges.iter().find(|exchange| exchange.file.path().is_symlink()) {
        return Err(RestoreError::SymbolicLink { path: file.path().to_path_buf() });
    }
    let locks =
        exchanges.iter().map(|exchange| lock(&exchange.file, patience)).collect::<Result<Vec<_>, _>>()?;
    let mut files = Vec::new();
    for exchange in &exchanges {
        files.push(exchange.carry_out()?);
    }
    sync_folder(folder).map_err(failed(folder))?;
    drop(locks);
    for Exchange { copy, .. } in &exchanges {
        fs::remove_file(copy).map_err(failed(copy))?;
    }
    // Copies of the upgrades that are undone as well.
    since.iter().try_for_each(UpgradeCopy::delete).map_err(failed(folder))?;
    sync_folder(folder).map_err(failed(folder))?;
    Ok(Restoration { made, files })
}

struct Exchange {
    file: DatabaseFile,
    kept: DatabaseFile,
    copy: PathBuf,
}

impl Exchange {
    /// Names are exchanged by links and one rename, so that there is a database at every moment.
    fn carry_out(&self) -> Result<Restored, RestoreError> {
        let Self { file, kept, copy } = self;
        let (file, kept) = (file.path(), kept.path());
        let failed = |source| RestoreError::NoFile { path: file.to_path_buf(), source };
        let is_restored = is_same_file(file, copy);
        let has_content = file.metadata().is_ok_and(|metadata| metadata.len() > 0);
        if has_content && !is_restored {
            match fs::hard_link(file, kept) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !is_same_file(file, kept) {
                        return Err(RestoreError::KeptAlready { path: kept.to_path_buf() });
                    }
                }
                outcome => outcome.map_err(failed)?,
            }
        }
        if !is_restored {
            set_leftovers_aside(file, kept).map_err(failed)?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let temporary = file.with_file_name(format!(".signpost-restoring-{name}"));
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                Ok(()) | Err(_) => {}
            }
            fs::hard_link(copy, &temporary).map_err(failed)?;
            fs::rename(&temporary, file).map_err(failed)?;
        }
        let kept = kept.exists().then(|| kept.to_path_buf());
        Ok(Restored { file: file.to_path_buf(), kept })
    }
}

/// Moves what SQLite left beside a file that is missing or damaged: it would apply it to the copy.
fn set_leftovers_aside(file: &Path, kept: &Path) -> io::Result<()> {
    let named = |path: &Path, own: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(own);
        PathBuf::from(name)
    };
    for own in SQLITES_OWN {
        match fs::rename(named(file, own), named(kept, own)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[derive(QueryableByName)]
struct JournalMode {
    #[diesel(sql_type = Text)]
    journal_mode: String,
}

/// Locks a file against all other programs, and folds its write-ahead log into it, which SQLite would otherwise apply to the copy.
/// `None` if the file does not exist, or is no database any more: then nobody uses it, and its log is set aside.
fn lock(file: &DatabaseFile, patience: Duration) -> Result<Option<SqliteConnection>, RestoreError> {
    if !file.holds_something() {
        return Ok(None);
    }
    match lock_database(file, patience) {
        Ok(connection) => Ok(Some(connection)),
        Err(RestoreError::Unusable { source, .. }) if is_damaged(&source) => Ok(None),
        Err(error) => Err(error),
    }
}

fn lock_database(file: &DatabaseFile, patience: Duration) -> Result<SqliteConnection, RestoreError> {
    let path = || file.path().to_path_buf();
    let refused = |source| {
        if is_busy(&source) {
            RestoreError::InUse { path: path() }
        } else {
            RestoreError::Unusable { path: path(), source }
        }
    };
    let mut connection = SqliteConnection::establish(file.as_str())
        .map_err(|error| RestoreError::NoFile { path: path(), source: io::Error::other(error) })?;
    connection
        .batch_execute(&format!(
            "PRAGMA busy_timeout = {}; PRAGMA locking_mode = EXCLUSIVE",
            patience.as_millis()
        ))
        .map_err(refused)?;
    // Only the last connection of a file may give up its write-ahead log.
    let JournalMode { journal_mode } =
        diesel::sql_query("PRAGMA journal_mode = DELETE").get_result(&mut connection).map_err(refused)?;
    if journal_mode != "delete" {
        return Err(RestoreError::InUse { path: path() });
    }
    connection.batch_execute("BEGIN EXCLUSIVE; COMMIT").map_err(refused)?;
    Ok(connection)
}

#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let identity = |path: &Path| path.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

/// Other systems do not tell. Then a repeated call asks to move the kept file away.
#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}
