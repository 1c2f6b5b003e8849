//! One failure that several callers receive.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use signpost_app::ports::StoreError;

/// A [`StoreError`] that can be copied.
pub(crate) enum SharedError {
    Unavailable(SharedCause),
    Unwritable(SharedCause),
    Contended,
    Corrupt { table: &'static str, column: &'static str, row: String, reason: String },
}

impl From<StoreError> for SharedError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(cause) => Self::Unavailable(SharedCause(cause.into())),
            StoreError::Unwritable(cause) => Self::Unwritable(SharedCause(cause.into())),
            StoreError::Contended => Self::Contended,
            StoreError::Corrupt { table, column, row, reason } => {
                Self::Corrupt { table, column, row, reason }
            }
        }
    }
}

impl SharedError {
    pub(crate) fn to_store_error(&self) -> StoreError {
        match self {
            Self::Unavailable(cause) => StoreError::unavailable(cause.clone()),
            Self::Unwritable(cause) => StoreError::unwritable(cause.clone()),
            Self::Contended => StoreError::Contended,
            Self::Corrupt { table, column, row, reason } => {
                StoreError::Corrupt { table, column, row: row.clone(), reason: reason.clone() }
            }
        }
    }
}

/// The shared cause of a failure, with the message of the original.
#[derive(Debug, Clone)]
pub(crate) struct SharedCause(Arc<dyn Error + Send + Sync>);

impl fmt::Display for SharedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SharedCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
