//! Why the database cannot be opened, and what to do about it.

use std::path::PathBuf;
use std::time::Duration;

use diesel::result::Error as SqlError;

use crate::sql_errors::is_busy;

/// Why the database cannot be opened. Every message says which database, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL does not name a file.
    #[error(
        "`{url}` is not the URL of an SQLite database: {reason}; write `sqlite://` and a path, as in `sqlite://signpost.db`"
    )]
    NotAPath {
        /// The URL or the path.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file does not exist or is empty, and the caller did not ask for a new database.
    #[error(
        "there is no database at {path}: name the right file with `database-url`, or create one with `signpost serve` or `signpost migrate`"
    )]
    NoDatabase {
        /// The file.
        path: PathBuf,
    },
    /// The operating system could not create or open the file.
    #[error("cannot open the database {path}: {source}; check that its folder exists and may be written to")]
    NoFile {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// SQLite could not open the file.
    #[error(
        "cannot open the database {path}: {source}; check that the file and its folder may be read and written"
    )]
    NoConnection {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: diesel::ConnectionError,
    },
    /// A statement failed while the connection was configured.
    #[error("cannot use the database {path}: {source}; {}", advice(source))]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: SqlError,
    },
    /// The file system does not support write-ahead logging.
    #[error(
        "the database {path} cannot keep a write-ahead log (its journal stays `{mode}`); put it on a local disk"
    )]
    NoWriteAheadLog {
        /// The file.
        path: PathBuf,
        /// The journal mode that SQLite fell back to.
        mode: String,
    },
    /// Another program kept the database locked.
    #[error("another program has kept the database {path} locked for {waited:?}; stop it, or wait for it")]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// The file belongs to another program.
    #[error("{path} is a database of another program; name another file")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program has written the file.
    #[error(
        "the database {path} was written by a newer version of this program (it has the migrations {versions:?}); \
         run that version, or restore a backup from before the upgrade"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The migrations that this version does not know.
        versions: Vec<String>,
    },
    /// A migration failed and was rolled back.
    #[error("cannot migrate the database {path}: {source}; it is unchanged")]
    Migration {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The operating system could not start a thread.
    #[error("cannot start a thread for the database: {0}; check the limits on processes and memory")]
    NoThread(#[source] std::io::Error),
}

impl OpenError {
    /// A statement failed on a connection that waits this long for locks.
    pub(crate) fn of_statement(path: PathBuf, source: SqlError, waited: Duration) -> Self {
        if is_busy(&source) { Self::Locked { path, waited } } else { Self::Unusable { path, source } }
    }
}

/// What to do about a statement that failed on a new connection. Diesel hides SQLite's error code, so the message decides.
fn advice(error: &SqlError) -> &'static str {
    let SqlError::DatabaseError(_, information) = error else { return INTACT };
    match information.message() {
        // `SQLITE_READONLY`, `SQLITE_CANTOPEN` and `SQLITE_PERM`: a read-only folder gives any of them.
        "attempt to write a readonly database"
        | "unable to open database file"
        | "access permission denied" => WRITABLE,
        "database or disk is full" | "disk I/O error" => WORKING_DISK,
        _ => INTACT,
    }
}

const WRITABLE: &str = "check that this user may write to the file and may create files in its folder, because SQLite \
                        keeps two more files beside it";
const WORKING_DISK: &str = "check that its disk works and has free space";
const INTACT: &str = "check that it is an intact SQLite database";

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;
    use diesel::prelude::*;

    use super::*;

    /// The message about a database for which this SQL fails.
    fn message(url: &str, sql: &str) -> String {
        let source = SqliteConnection::establish(url).unwrap().batch_execute(sql).unwrap_err();
        OpenError::Unusable { path: PathBuf::from("signpost.db"), source }.to_string()
    }

    /// A folder with an empty database, and the path of that.
    fn database() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db").to_str().unwrap().to_owned();
        let sql = "PRAGMA journal_mode = WAL; CREATE TABLE t (x BLOB)";
        SqliteConnection::establish(&path).unwrap().batch_execute(sql).unwrap();
        (folder, path)
    }

    #[test]
    fn a_lock_of_another_program_is_named() {
        let (_folder, path) = database();
        let mut other = SqliteConnection::establish(&path).unwrap();
        other.batch_execute("BEGIN IMMEDIATE").unwrap();
        let source =
            SqliteConnection::establish(&path).unwrap().batch_execute("BEGIN IMMEDIATE").unwrap_err();
        let error = OpenError::of_statement(PathBuf::from("signpost.db"), source, Duration::ZERO);
        assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    }

    #[test]
    fn advice_fits_the_cause() {
        let (_folder, path) = database();
        let read_only = message(&format!("file:{path}?mode=ro"), "INSERT INTO t VALUES (1)");
        assert!(read_only.ends_with(&format!("readonly database; {WRITABLE}")), "{read_only}");
        let full = message(&path, "PRAGMA max_page_count = 2; INSERT INTO t VALUES (zeroblob(100000))");
        assert!(full.ends_with(&format!("disk is full; {WORKING_DISK}")), "{full}");
        let other = message(&path, "SELECT * FROM missing");
        assert!(other.ends_with(&format!("missing; {INTACT}")), "{other}");
    }

    /// SQLite keeps the write-ahead log beside the database. A folder in its place stops every user, root included.
    #[test]
    fn advice_names_the_folder_if_files_beside_the_database_cannot_be_created() {
        let (_folder, path) = database();
        std::fs::create_dir(format!("{path}-wal")).unwrap();
        let message = message(&path, "SELECT * FROM t");
        assert!(message.ends_with(&format!("unable to open database file; {WRITABLE}")), "{message}");
    }
}
