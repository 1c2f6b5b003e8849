//! Why the database cannot be opened, and what to do about it.

use std::path::PathBuf;

/// Why the database cannot be opened. Every message says what to do; none contains the password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL is not a valid PostgreSQL URL.
    #[error("cannot parse the database URL: {reason}; write `postgres://user:password@host:5432/name`")]
    NotAUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// The file with the root certificates cannot be read.
    #[error("cannot read the certificates in {path}: {reason}; `sslrootcert` must name a file in PEM format")]
    NoCertificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system has no root certificates, and the URL names none.
    #[error(
        "this system trusts no certificate; install its certificates (the package `ca-certificates`), or name a file with \
         the one to trust in `sslrootcert`"
    )]
    NoTrustedRoots,
    /// The server cannot be reached, or rejects the login.
    #[error("cannot connect to the database: {0}; check that the server runs, and the URL")]
    NoConnection(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A statement failed during the check of the tables.
    #[error("cannot use the database: {0}")]
    Unusable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The tables are from an earlier version of this program.
    #[error("the database is not up to date (missing migrations: {names:?}); run `signpost migrate`")]
    Pending {
        /// The pending migrations.
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
    /// A migration failed and was rolled back.
    #[error("cannot migrate the database: {0}; earlier migrations were kept")]
    Migration(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A migration could not get a lock for two minutes and was rolled back.
    #[error(
        "cannot migrate the database: {name} waited for a table or a row that others hold: {cause}; those before it were \
         kept; end the transactions of the others (see `pg_stat_activity`), and run `signpost migrate` again"
    )]
    InUse {
        /// The migration.
        name: String,
        /// The error of the server.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}
