//! What went wrong on a connection, and what the ports call it.

use diesel::result::{DatabaseErrorKind, Error as SqlError};
use signpost_app::ports::StoreError;
use signpost_sql_rows::Corrupt;

use crate::opener::PoolError;

/// Why a call did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// PostgreSQL or diesel refused.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// There was no connection in time.
    #[error("no connection to the database: {0}")]
    NotConnected(#[from] PoolError),
    /// A row is not what it must be.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// Another transaction has changed what this one relies on.
    #[error("another transaction came in between")]
    Contended,
    /// The time limit is over.
    #[error("the database did not answer within the time limit")]
    OutOfTime,
    /// The server takes no changes.
    #[error("the database takes no changes: its server is a standby, or set to read only")]
    ReadOnly,
    /// What a statement relies on is not so.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// What a caller outside a unit of work is told. There is nothing that it could run again.
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

    /// Whether the connection on which a call failed so may be lent again. It may after a decision of the server on the
    /// values of a statement. Anything else may be the connection's own (its prepared statements, its settings, the server
    /// that it leads to), and would come again with every call.
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

    /// Whether the server of this connection takes no changes (25006), as one that waits to take over does not.
    pub(crate) const fn is_of_a_server_that_only_reads(&self) -> bool {
        matches!(
            self,
            Self::Sql(SqlError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _)) | Self::ReadOnly
        )
    }

    /// Whether a value of a row could not be taken out of the server's answer.
    pub(crate) const fn is_of_a_row(&self) -> bool {
        matches!(self, Self::Sql(SqlError::DeserializationError(_)))
    }

    /// What a unit of work is told.
    pub(crate) fn into_unit_of_work_error(self) -> StoreError {
        match self {
            Self::Contended => StoreError::Contended,
            Self::Sql(error) if is_contended(&error) => StoreError::Contended,
            failure => failure.into_store_error(),
        }
    }
}

/// What PostgreSQL says (XX000) where two transactions that share a row go on to write it at the same moment. It has written
/// nothing then, and the transaction may be run again.
const TWO_UPDATERS: &str = "new multixact has more than one updating member";

/// Whether PostgreSQL has ended this transaction for the sake of another (40001, 40P01, and [`TWO_UPDATERS`]).
pub(crate) fn is_contended(error: &SqlError) -> bool {
    match error {
        SqlError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        SqlError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            information.message() == "deadlock detected"
                || information.message().starts_with(TWO_UPDATERS)
                || information.details().is_some_and(tells_a_deadlock)
        }
        _ => false,
    }
}

/// Whether the server could not write: its disk is full (53100), or it is read-only (25006). The first code does not come
/// through diesel, so the words of the operating system tell. A server with messages in another language than English may
/// have them translated, and is then taken for one that is away.
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

/// Whether these are the details of a deadlock. Its code does not come through diesel, and its words are in the server's
/// language; but in all of them each process that waits has a line, which says for what and for whom by number.
fn tells_a_deadlock(details: &str) -> bool {
    let numbers = |line: &str| {
        line.split(|sign: char| !sign.is_ascii_digit()).filter(|digits| !digits.is_empty()).count()
    };
    details.lines().count() >= 2 && details.lines().all(|line| numbers(line) >= 3)
}

/// Whether a statement was refused because of the unique index `name`.
pub(crate) fn is_taken(error: &SqlError, name: &str) -> bool {
    let SqlError::DatabaseError(DatabaseErrorKind::UniqueViolation, information) = error else {
        return false;
    };
    information.constraint_name() == Some(name)
}

/// A row could not be deleted because another transaction has just referred to it: the unit of work is to be run again.
pub(crate) fn contended_if_referred_to(error: SqlError) -> Failure {
    match error {
        SqlError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => Failure::Contended,
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What servers say of a deadlock in English, German, Russian and Japanese.
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

    /// Contract D30: a server may speak any language.
    #[test]
    fn d30_a_deadlock_is_known_by_its_form() {
        for details in DEADLOCKS {
            assert!(tells_a_deadlock(details), "{details}");
        }
    }

    #[test]
    fn d30_two_that_write_a_row_they_share_are_run_again() {
        let message =
            "new multixact has more than one updating member: 0 2[1481 (nokeyupd), 1483 (nokeyupd)]";
        let error = SqlError::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned()));
        assert!(matches!(Failure::from(error).into_unit_of_work_error(), StoreError::Contended));
    }

    #[test]
    fn r40_a_full_disk_is_told_from_a_server_that_is_away() {
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
    fn other_details_are_none_of_a_deadlock() {
        for details in [
            "",
            "Key (id)=(1) is still referenced from table \"links\".",
            "Process 20967 waits for ShareLock on transaction 1062; blocked by process 20923.",
            "Failing row contains (1, 2, 3).\nIt was written in a hurry.",
        ] {
            assert!(!tells_a_deadlock(details), "{details}");
        }
    }
}
