//! An error of the driver, with the server's message and code.

use std::error::Error;
use std::fmt;

use signpost_app::with_causes;
use tokio_postgres::error::SqlState;

/// An error on a connection without Diesel, which would hide the server's code.
#[derive(Debug)]
pub(crate) struct ServerError(tokio_postgres::Error);

impl ServerError {
    /// Whether the transaction could not get a lock: it waited too long (55P03), or a deadlock was resolved against it
    /// (40P01).
    pub(crate) fn is_of_a_lock(&self) -> bool {
        let code = self.0.code();
        code == Some(&SqlState::LOCK_NOT_AVAILABLE) || code == Some(&SqlState::T_R_DEADLOCK_DETECTED)
    }

    /// Whether the statement was cancelled (57014).
    pub(crate) fn is_of_a_cancelled_statement(&self) -> bool {
        self.0.code() == Some(&SqlState::QUERY_CANCELED)
    }
}

impl From<tokio_postgres::Error> for ServerError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for ServerError {
    /// The server's message on one line, with its code, which does not depend on the language.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(error) = self.0.as_db_error() else {
            return formatter.write_str(&with_causes(&self.0));
        };
        write!(formatter, "{} ({})", error.message(), error.code().code())?;
        for more in [error.detail(), error.where_(), error.hint()].into_iter().flatten() {
            write!(formatter, "; {}", more.replace('\n', "; "))?;
        }
        Ok(())
    }
}

/// Has no source, because the message contains all causes.
impl Error for ServerError {}
