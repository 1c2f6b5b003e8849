//! What went wrong on a connection, and what the ports call it.

use diesel::result::{DatabaseErrorKind, Error as SqlError};
use diesel_async::pooled_connection::deadpool::PoolError;
use signpost_app::ports::StoreError;

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
    #[error("{table}.{column} is corrupt in row {row}: {reason}")]
    Corrupt { table: &'static str, column: &'static str, row: String, reason: String },
    /// Another transaction has changed what this one relies on.
    #[error("another transaction came in between")]
    Contended,
    /// The time limit is over.
    #[error("the database did not answer within the time limit")]
    OutOfTime,
    /// What a statement relies on is not so.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// What a caller outside a unit of work is told. There is nothing that it could run again.
    pub(crate) fn into_store_error(self) -> StoreError {
        match self {
            Self::Corrupt { table, column, row, reason } => {
                StoreError::Corrupt { table, column, row, reason }
            }
            failure @ (Self::Sql(_)
            | Self::NotConnected(_)
            | Self::Contended
            | Self::OutOfTime
            | Self::Other(_)) => StoreError::unavailable(failure),
        }
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

/// Whether PostgreSQL has ended this transaction for the sake of another (40001, 40P01). The code of a deadlock does not
/// come through diesel, so its words tell; a server that speaks another language has it taken for a failure.
fn is_contended(error: &SqlError) -> bool {
    match error {
        SqlError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        SqlError::DatabaseError(_, information) => information.message() == "deadlock detected",
        _ => false,
    }
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
