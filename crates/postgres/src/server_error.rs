//! An error of the driver, with what the server says.

use std::error::Error;
use std::fmt;

use tokio_postgres::error::SqlState;

/// What went wrong on a connection that is used without diesel, which keeps the server's code to itself.
#[derive(Debug)]
pub(crate) struct ServerError(tokio_postgres::Error);

impl ServerError {
    /// Whether the transaction could not have a lock: it has waited for as long as it may (55P03), or was ended for the
    /// sake of another that waited for it (40P01).
    pub(crate) fn is_of_a_lock(&self) -> bool {
        let code = self.0.code();
        code == Some(&SqlState::LOCK_NOT_AVAILABLE) || code == Some(&SqlState::T_R_DEADLOCK_DETECTED)
    }

    /// Whether somebody has cancelled the statement (57014).
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
    /// The server's words on one line, with its code, which is the same in every language.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(said) = self.0.as_db_error() else {
            return formatter.write_str(&sentence(&self.0));
        };
        write!(formatter, "{} ({})", said.message(), said.code().code())?;
        for more in [said.detail(), said.where_(), said.hint()].into_iter().flatten() {
            write!(formatter, "; {}", more.replace('\n', "; "))?;
        }
        Ok(())
    }
}

impl Error for ServerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// An error with its causes, which the driver does not show by itself.
pub(crate) fn sentence(error: &dyn Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        sentence.push_str(": ");
        sentence.push_str(&error.to_string());
        cause = error.source();
    }
    sentence
}
