//! Running a unit of work again when the store asks for it.

use std::fmt::Debug;

use crate::app_error::AppError;
use crate::ports::StoreError;

/// How often a unit of work is tried before its contention counts as a failure.
const ATTEMPTS: u32 = 5;

/// Runs `attempt`, which must begin and commit a unit of work of its own, and runs it whole again while the
/// store asks for that ([`StoreError::Contended`]), at most five times.
pub(crate) async fn retried<T: Debug>(attempt: impl AsyncFn() -> Result<T, AppError>) -> Result<T, AppError> {
    for number in 1..ATTEMPTS {
        match attempt().await {
            Err(AppError::Store(StoreError::Contended)) => {
                tracing::debug!(number, "the store asks to run the unit of work again");
            }
            outcome => return outcome,
        }
    }
    attempt().await
}
