//! Why a database was not opened, and what to do about it.

use std::path::PathBuf;

/// Why a database was not opened. Every message says what to do, and none has the password in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL is none of PostgreSQL's.
    #[error(
        "the database's URL is not understood: {reason}; write `postgres://user:password@host:5432/name`"
    )]
    NotAUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// The file with the certificates cannot be read.
    #[error("cannot read the certificates in {path}: {reason}; `sslrootcert` must name a file in PEM format")]
    NoCertificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system has no certificates to trust, and the URL names none.
    #[error(
        "this system trusts no certificate; install its certificates (the package `ca-certificates`), or name a file with \
         the one to trust in `sslrootcert`"
    )]
    NobodyTrusted,
    /// The server cannot be reached, or does not let us in.
    #[error("cannot connect to the database: {0}; check that the server runs, and the URL")]
    NoConnection(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A statement failed while the tables were looked at.
    #[error("cannot use the database: {0}")]
    Unusable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The tables are those of an earlier version of this program.
    #[error("the database is not up to date (it lacks the migrations {names:?}); run `signpost migrate`")]
    Pending {
        /// The migrations that were not run yet.
        names: Vec<String>,
    },
    /// A newer version of this program has migrated the database.
    #[error(
        "the database was migrated by a newer version of this program (it has the migrations {versions:?}); run that \
         version, or restore a backup from before the upgrade"
    )]
    Newer {
        /// The migrations that this version does not know.
        versions: Vec<String>,
    },
    /// A migration failed. Nothing of it was kept.
    #[error("cannot migrate the database: {0}; those before it were kept")]
    Migration(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A migration could not have a lock that it needs, again and again for two minutes. Nothing of it was kept.
    #[error(
        "cannot migrate the database: {name} waited for a table or a row that others hold: {cause}; those before it were \
         kept; end the transactions of the others (see `pg_stat_activity`), and run `signpost migrate` again"
    )]
    InUse {
        /// The migration.
        name: String,
        /// What the server says.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}
