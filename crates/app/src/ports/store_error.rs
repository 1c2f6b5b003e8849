//! The failures of a store.

use std::error::Error;

/// A store failed. The caller is never the cause. [`StoreError::Unwritable`] becomes a 503, any other failure a 500.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is unreachable, did not answer within its time limit, or is overloaded.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// The store refused a change because its disk is full or it is read-only. It can still be read.
    #[error("the store cannot be written")]
    Unwritable(#[source] Box<dyn Error + Send + Sync>),
    /// The store asks to run the whole unit of work again. It has undone this attempt.
    #[error("the store asks to run the unit of work again")]
    Contended,
    /// A stored value is invalid.
    #[error("corrupt data in {table}.{column}, row {row}: {reason}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The key of the row.
        row: String,
        /// What is wrong with the value, without secrets.
        reason: String,
    },
}

impl StoreError {
    /// Wraps the failure of a driver, or a message.
    pub fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// Wraps the failure of a driver that could not write, or a message.
    pub fn unwritable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unwritable(cause.into())
    }
}
