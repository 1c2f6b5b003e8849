//! What went wrong on a thread of the store, and what the ports call it.

use diesel::result::{DatabaseErrorKind, Error as SqlError};
use signpost_app::ports::StoreError;

use crate::open_error::OpenError;

/// Why a job did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// SQLite or diesel refused.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// A row is not what it must be.
    #[error("{table}.{column} is corrupt in row {row}: {reason}")]
    Corrupt { table: &'static str, column: &'static str, row: String, reason: String },
    /// The connection was lost and there is no new one.
    #[error(transparent)]
    NotConnected(OpenError),
    /// What a statement relies on is not so, or others failed together with this one.
    #[error("{0}")]
    Other(String),
    /// The job panicked. The panic itself is on standard error.
    #[error("a job of the store panicked")]
    Panicked,
}

impl Failure {
    /// Whether another connection, of this process or of another, has what this one needs.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Sql(error) if is_busy(error))
    }

    /// What a caller outside a unit of work is told. There is nothing that it could run again.
    pub(crate) fn into_store_error(self) -> StoreError {
        match self {
            Self::Corrupt { table, column, row, reason } => {
                StoreError::Corrupt { table, column, row, reason }
            }
            failure @ (Self::Sql(_) | Self::NotConnected(_) | Self::Other(_) | Self::Panicked) => {
                StoreError::unavailable(failure)
            }
        }
    }

    /// What a unit of work that is under way is told. It holds the write lock, so whatever is busy now is so for
    /// a moment.
    pub(crate) fn into_unit_of_work_error(self) -> StoreError {
        if self.is_busy() { StoreError::Contended } else { self.into_store_error() }
    }
}

/// SQLite's code does not come through diesel, so its words tell.
pub(crate) fn is_busy(error: &SqlError) -> bool {
    let SqlError::DatabaseError(_, information) = error else { return false };
    matches!(information.message(), "database is locked" | "database table is locked")
}

/// Whether a statement was refused because of the unique index that begins with `column` (`table.column`).
pub(crate) fn is_taken(error: &SqlError, column: &str) -> bool {
    let SqlError::DatabaseError(DatabaseErrorKind::UniqueViolation, information) = error else {
        return false;
    };
    let columns = information.message().strip_prefix("UNIQUE constraint failed: ");
    columns.is_some_and(|columns| columns.split(", ").next() == Some(column))
}

/// Whether a statement was refused because what it refers to does not exist.
pub(crate) const fn refers_to_nothing(error: &SqlError) -> bool {
    matches!(error, SqlError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _))
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
    fn a_lock_that_another_holds_is_busy() {
        let (_folder, [mut one, mut other]) = two_connections();
        one.batch_execute("BEGIN IMMEDIATE").unwrap();
        let failure = Failure::from(other.batch_execute("BEGIN IMMEDIATE").unwrap_err());
        assert!(failure.is_busy());
        assert!(matches!(failure.into_store_error(), StoreError::Unavailable(_)));
    }

    /// A snapshot that is out of date cannot be written from, and waiting does not help; running it all again does.
    #[test]
    fn a_unit_of_work_that_meets_another_writer_is_to_be_run_again() {
        let (_folder, [mut one, mut other]) = two_connections();
        one.batch_execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (1)")
            .unwrap();
        other.batch_execute("BEGIN; SELECT * FROM t").unwrap();
        one.batch_execute("UPDATE t SET x = 2").unwrap();
        let error = other.batch_execute("UPDATE t SET x = 3").unwrap_err();
        assert!(matches!(Failure::from(error).into_unit_of_work_error(), StoreError::Contended));
    }

    #[test]
    fn constraints_are_told_apart_by_what_they_guard() {
        let (_folder, [mut connection, _]) = two_connections();
        let tables = "PRAGMA foreign_keys = ON; CREATE TABLE t (a INTEGER UNIQUE, b INTEGER, c INTEGER REFERENCES t (a), \
            UNIQUE (b, a)); INSERT INTO t (a, b) VALUES (1, 1)";
        connection.batch_execute(tables).unwrap();
        let mut refused = |sql: &str| connection.batch_execute(sql).unwrap_err();
        let taken = refused("INSERT INTO t (a) VALUES (1)");
        assert!(
            is_taken(&taken, "t.a")
                && !is_taken(&taken, "t.b")
                && !refers_to_nothing(&taken)
                && !is_busy(&taken)
        );
        let dangling = refused("INSERT INTO t (a, c) VALUES (2, 9)");
        assert!(refers_to_nothing(&dangling) && !is_taken(&dangling, "t.a"));
    }
}
