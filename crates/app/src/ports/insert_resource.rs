//! Inserting a resource that the plan limits.

use super::store_error::StoreError;

/// Why a resource that the plan limits was not inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertResourceError {
    /// A decision: the account has as many of them as its plan allows (D15).
    #[error("the limit of the plan is reached")]
    LimitReached,
    /// A decision: the account was deleted after the request was admitted.
    #[error("no such account")]
    AccountMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}
