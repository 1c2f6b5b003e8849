//! Why the database cannot be opened, and what to do about it.

use std::path::PathBuf;
use std::time::Duration;

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
    #[error(
        "cannot use the database {path}: {source}; check that it is an intact SQLite database, on a disk with free space"
    )]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: diesel::result::Error,
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
