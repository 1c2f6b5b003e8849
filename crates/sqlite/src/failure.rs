//! Failures on the threads of the store, and their mapping to the errors of the ports.

use diesel::result::Error as SqlError;
use signpost_app::ports::StoreError;
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::link_batch::RepeatedId;

use crate::open_error::OpenError;
use crate::sql_errors::{is_busy, is_unwritable};

/// Why a job failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An error of SQLite or Diesel.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// A stored row is invalid.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The connection was lost, and opening a new one failed.
    #[error(transparent)]
    NotConnected(OpenError),
    /// The file could not be written by another job of the same batch, or must not be written.
    #[error("{0}")]
    Unwritable(String),
    /// An assumption of a statement does not hold, or another job of the same batch failed.
    #[error("{0}")]
    Other(String),
    /// The job panicked. The panic message is on standard error.
    #[error("a job of the store panicked")]
    Panicked,
}

impl From<RepeatedId> for Failure {
    fn from(defect: RepeatedId) -> Self {
        Self::Other(defect.to_string())
    }
}

impl Failure {
    /// Whether a connection of this process or of another one holds the lock that is needed.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Sql(error) if is_busy(error))
    }

    /// Whether a write failed because the disk is full or the file is read-only. Only the writer asks, so an I/O error is
    /// one of writing, as on a failed disk or after a read-only remount.
    pub(crate) fn is_unwritable(&self) -> bool {
        match self {
            Self::Sql(error) | Self::NotConnected(OpenError::Unusable { path: _, source: error }) => {
                is_unwritable(error)
            }
            Self::Unwritable(_) => true,
            Self::NotConnected(_) | Self::Corrupt(_) | Self::Other(_) | Self::Panicked => false,
        }
    }

    /// The error for a caller that reads, which has nothing to retry.
    pub(crate) fn into_store_error(self) -> StoreError {
        match self {
            Self::Corrupt(corrupt) => corrupt.into(),
            failure @ (Self::Sql(_)
            | Self::NotConnected(_)
            | Self::Unwritable(_)
            | Self::Other(_)
            | Self::Panicked) => StoreError::unavailable(failure),
        }
    }

    /// The error for a caller that writes, outside a unit of work or before it has begun.
    pub(crate) fn into_write_error(self) -> StoreError {
        if self.is_unwritable() { StoreError::unwritable(self) } else { self.into_store_error() }
    }

    /// The error for an open unit of work. It holds the write lock, so a busy error is momentary.
    pub(crate) fn into_unit_of_work_error(self) -> StoreError {
        if self.is_busy() { StoreError::Contended } else { self.into_write_error() }
    }
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;
    use diesel::prelude::*;

    use super::*;

    fn two_connections() -> (tempfile::TempDir, [SqliteConnection; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let connections = [(); 2].map(|()| SqliteConnection::establish(path.to_str().unwrap()).unwrap());
        (folder, connections)
    }

    #[test]
    fn lock_of_another_connection_is_busy() {
        let (_folder, [mut one, mut other]) = two_connections();
        one.batch_execute("BEGIN IMMEDIATE").unwrap();
        let failure = Failure::from(other.batch_execute("BEGIN IMMEDIATE").unwrap_err());
        assert!(failure.is_busy());
        assert!(matches!(failure.into_store_error(), StoreError::Unavailable(_)));
    }

    #[test]
    fn full_file_is_unwritable() {
        let (_folder, [mut connection, _]) = two_connections();
        connection.batch_execute("CREATE TABLE t (x BLOB); PRAGMA max_page_count = 2").unwrap();
        let error = connection.batch_execute("INSERT INTO t VALUES (zeroblob(100000))").unwrap_err();
        let failure = Failure::from(error);
        assert!(failure.is_unwritable(), "{failure}");
        assert!(matches!(failure.into_unit_of_work_error(), StoreError::Unwritable(_)));
    }

    #[test]
    fn read_only_file_is_unwritable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let path = path.to_str().unwrap();
        SqliteConnection::establish(path).unwrap().batch_execute("CREATE TABLE t (x INTEGER)").unwrap();
        let mut reader = SqliteConnection::establish(&format!("file:{path}?mode=ro")).unwrap();
        let failure = Failure::from(reader.batch_execute("INSERT INTO t VALUES (1)").unwrap_err());
        assert!(failure.is_unwritable() && !failure.is_busy(), "{failure}");
        assert!(matches!(failure.into_write_error(), StoreError::Unwritable(_)));
    }

    /// An outdated snapshot cannot be written from. Waiting does not help, but running everything again does.
    #[test]
    fn unit_of_work_that_meets_another_writer_must_be_retried() {
        let (_folder, [mut one, mut other]) = two_connections();
        one.batch_execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (1)")
            .unwrap();
        other.batch_execute("BEGIN; SELECT * FROM t").unwrap();
        one.batch_execute("UPDATE t SET x = 2").unwrap();
        let error = other.batch_execute("UPDATE t SET x = 3").unwrap_err();
        assert!(matches!(Failure::from(error).into_unit_of_work_error(), StoreError::Contended));
    }
}
