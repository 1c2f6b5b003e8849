//! What an error of a statement means. Diesel hides SQLite's error code, so the message decides.

use diesel::result::{DatabaseErrorKind, Error as SqlError};

/// The messages of `SQLITE_BUSY` and `SQLITE_LOCKED`.
pub(crate) fn is_busy(error: &SqlError) -> bool {
    let SqlError::DatabaseError(_, information) = error else { return false };
    matches!(information.message(), "database is locked" | "database table is locked")
}

/// The messages of `SQLITE_FULL`, `SQLITE_READONLY` and `SQLITE_IOERR`.
pub(crate) fn is_unwritable(error: &SqlError) -> bool {
    let SqlError::DatabaseError(_, information) = error else { return false };
    matches!(
        information.message(),
        "database or disk is full" | "attempt to write a readonly database" | "disk I/O error"
    )
}

/// The messages of `SQLITE_CORRUPT` and `SQLITE_NOTADB`.
pub(crate) fn is_damaged(error: &SqlError) -> bool {
    let SqlError::DatabaseError(_, information) = error else { return false };
    matches!(information.message(), "database disk image is malformed" | "file is not a database")
}

/// Whether a statement violated the unique index that starts with `column` (`table.column`).
pub(crate) fn is_taken(error: &SqlError, column: &str) -> bool {
    let SqlError::DatabaseError(DatabaseErrorKind::UniqueViolation, information) = error else {
        return false;
    };
    let columns = information.message().strip_prefix("UNIQUE constraint failed: ");
    columns.is_some_and(|columns| columns.split(", ").next() == Some(column))
}

/// Whether a statement violated a foreign key.
pub(crate) const fn refers_to_nothing(error: &SqlError) -> bool {
    matches!(error, SqlError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _))
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;
    use diesel::prelude::*;

    use super::*;

    #[test]
    fn violated_constraints_are_distinguished() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
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
