//! What can break between a use case and a store.

use std::error::Error;

/// A store could not do what it was asked. None of this is the caller's fault. A store that cannot be written is a 503, the
/// rest a 500.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached, did not answer within its time limit, or is busy beyond its bounds.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// The store refused a change because its disk is full or it is read-only. It can still be read.
    #[error("the store cannot be written")]
    Unwritable(#[source] Box<dyn Error + Send + Sync>),
    /// The store asks for the whole unit of work to be run again. Nothing of it was kept.
    #[error("the store asks to run the unit of work again")]
    Contended,
    /// Something stored is not what it must be.
    #[error("corrupt data in {table}.{column}, row {row}: {reason}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's key.
        row: String,
        /// What is wrong with it, without secrets.
        reason: String,
    },
}

impl StoreError {
    /// Wraps the failure of a driver, or a sentence.
    pub fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// Wraps the failure of a driver that could not write, or a sentence.
    pub fn unwritable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unwritable(cause.into())
    }
}
