//! Failures of calls, and their mapping to the errors of the ports.

use deadpool::managed;
use diesel::ConnectionError;
use diesel::result::{DatabaseErrorKind, Error as SqlError};
use signpost_app::ports::StoreError;
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::link_batch::RepeatedId;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An error of PostgreSQL or Diesel.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// No connection became free in time.
    #[error("no connection to the database: {0}")]
    NotConnected(#[from] PoolError),
    /// A stored row is invalid.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A conflict with another transaction; the unit of work can be retried.
    #[error("a concurrent transaction conflicts with this one")]
    Contended,
    /// The time limit has passed.
    #[error("the database did not answer within the time limit")]
    OutOfTime,
    /// The server is read-only.
    #[error("the database is read-only: its server is a standby, or read-only by configuration")]
    ReadOnly,
    /// An assumption of a statement does not hold.
    #[error("{0}")]
    Other(String),
}

/// Why a pool cannot lend a connection.
pub(crate) type PoolError = managed::PoolError<NotOpened>;

/// Why a connection was not opened or not reused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotOpened {
    /// The maximum number of connections is open.
    #[error("the maximum number of connections is open")]
    AtCapacity,
    #[error(transparent)]
    Failed(#[from] ConnectionError),
}

impl From<RepeatedId> for Failure {
    fn from(defect: RepeatedId) -> Self {
        Self::Other(defect.to_string())
    }
}

impl Failure {
    /// The error for a caller outside a unit of work, which has nothing to retry.
    pub(crate) fn into_store_error(self) -> StoreError {
        match self {
            Self::Corrupt(corrupt) => corrupt.into(),
            Self::Sql(error) if is_unwritable(&error) => StoreError::unwritable(error),
            failure @ (Self::Sql(_)
            | Self::NotConnected(_)
            | Self::Contended
            | Self::OutOfTime
            | Self::ReadOnly
            | Self::Other(_)) => StoreError::unavailable(failure),
        }
    }

    /// Whether the connection may be lent again after this failure. It may if the server rejected the values of a statement.
    /// Any other cause may lie in the connection: its prepared statements, its settings, or the server that it leads to.
    /// Then every later call would fail as well.
    pub(crate) fn leaves_the_connection_sound(&self) -> bool {
        match self {
            Self::Sql(SqlError::NotFound) | Self::Corrupt(_) | Self::Contended => true,
            Self::Sql(error @ SqlError::DatabaseError(kind, _)) => match kind {
                DatabaseErrorKind::UniqueViolation
                | DatabaseErrorKind::ForeignKeyViolation
                | DatabaseErrorKind::RestrictViolation
                | DatabaseErrorKind::ExclusionViolation
                | DatabaseErrorKind::NotNullViolation
                | DatabaseErrorKind::CheckViolation => true,
                _ => is_contended(error),
            },
            Self::Sql(_) | Self::NotConnected(_) | Self::OutOfTime | Self::ReadOnly | Self::Other(_) => false,
        }
    }

    /// Whether the server of this connection is read-only (25006), for example a standby.
    pub(crate) const fn is_of_a_server_that_only_reads(&self) -> bool {
        matches!(
            self,
            Self::Sql(SqlError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _)) | Self::ReadOnly
        )
    }

    /// Whether a value of a row could not be decoded.
    pub(crate) const fn is_of_a_row(&self) -> bool {
        matches!(self, Self::Sql(SqlError::DeserializationError(_)))
    }

    /// The error for a unit of work.
    pub(crate) fn into_unit_of_work_error(self) -> StoreError {
        match self {
            Self::Contended => StoreError::Contended,
            Self::Sql(error) if is_contended(&error) => StoreError::Contended,
            failure => failure.into_store_error(),
        }
    }
}

/// PostgreSQL's message (XX000) when two transactions that share a row lock write the row at the same moment. Nothing was
/// written, so the transaction can be retried.
const TWO_UPDATERS: &str = "new multixact has more than one updating member";

/// Whether PostgreSQL aborted this transaction in favour of another (40001, 40P01 and [`TWO_UPDATERS`]).
pub(crate) fn is_contended(error: &SqlError) -> bool {
    match error {
        SqlError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        SqlError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            information.message() == "deadlock detected"
                || information.message().starts_with(TWO_UPDATERS)
                || information.details().is_some_and(is_deadlock_detail)
        }
        _ => false,
    }
}

/// Whether the server could not write: its disk is full (53100), or it is read-only (25006). Diesel hides the first code, so
/// the message of the operating system decides. A server with another message language may translate it; the failure then
/// counts as an unreachable server.
fn is_unwritable(error: &SqlError) -> bool {
    match error {
        SqlError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _) => true,
        SqlError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            let message = information.message();
            message.contains("No space left on device") || message.contains("Disk quota exceeded")
        }
        _ => false,
    }
}

/// Whether these are the details of a deadlock. Diesel hides the code, and the text is in the server's
/// language. In every language each waiting process has a line with the numbers of the lock and of the
/// process that it waits for.
fn is_deadlock_detail(details: &str) -> bool {
    let numbers = |line: &str| {
        line.split(|sign: char| !sign.is_ascii_digit()).filter(|digits| !digits.is_empty()).count()
    };
    details.lines().count() >= 2 && details.lines().all(|line| numbers(line) >= 3)
}

/// Whether a statement violated the unique index `name`.
pub(crate) fn is_taken(error: &SqlError, name: &str) -> bool {
    let SqlError::DatabaseError(DatabaseErrorKind::UniqueViolation, information) = error else {
        return false;
    };
    information.constraint_name() == Some(name)
}

/// A row could not be deleted because another transaction has just referenced it. The unit of work must be retried.
pub(crate) fn contended_if_referred_to(error: SqlError) -> Failure {
    match error {
        SqlError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => Failure::Contended,
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deadlock details in English, German, Russian and Japanese.
    const DEADLOCKS: [&str; 4] = [
        "Process 20967 waits for ShareLock on transaction 1062; blocked by process 20923.\nProcess 20923 waits for \
         ShareLock on transaction 1063; blocked by process 20967.",
        "Prozess 20967 wartet auf ShareLock-Sperre auf Transaktion 1062; blockiert von Prozess 20923.\nProzess 20923 \
         wartet auf ExclusiveLock-Sperre auf Tupel (0,1) von Relation 16391 der Datenbank 5; blockiert von Prozess \
         20967.",
        "Процесс 7 ожидает в режиме ShareLock блокировку \"транзакция 1062\"; заблокирован процессом 9.\n\
         Процесс 9 ожидает в режиме ShareLock блокировку \"транзакция 1063\"; заблокирован процессом 7.",
        "プロセス 7 は ShareLock を 1062 で待機していましたが、プロセス 9 でブロックされました\n\
         プロセス 9 は ShareLock を 1063 で待機していましたが、プロセス 7 でブロックされました",
    ];

    /// D30: a server may use any message language.
    #[test]
    fn d30_deadlock_is_recognized_in_any_language() {
        for details in DEADLOCKS {
            assert!(is_deadlock_detail(details), "{details}");
        }
    }

    #[test]
    fn d30_concurrent_writers_of_a_shared_row_are_retried() {
        let message =
            "new multixact has more than one updating member: 0 2[1481 (nokeyupd), 1483 (nokeyupd)]";
        let error = SqlError::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned()));
        assert!(matches!(Failure::from(error).into_unit_of_work_error(), StoreError::Contended));
    }

    #[test]
    fn r40_full_disk_differs_from_an_unreachable_server() {
        let failed = |message: &str| {
            let error = SqlError::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned()));
            Failure::from(error).into_unit_of_work_error()
        };
        let full = failed("could not extend file \"base/5/16384\": No space left on device");
        assert!(matches!(full, StoreError::Unwritable(_)), "{full:?}");
        let other = failed("the database system is shutting down");
        assert!(matches!(other, StoreError::Unavailable(_)), "{other:?}");
    }

    #[test]
    fn other_details_are_not_taken_for_a_deadlock() {
        for details in [
            "",
            "Key (id)=(1) is still referenced from table \"links\".",
            "Process 20967 waits for ShareLock on transaction 1062; blocked by process 20923.",
            "Failing row contains (1, 2, 3).\nIt was written in a hurry.",
        ] {
            assert!(!is_deadlock_detail(details), "{details}");
        }
    }
}
