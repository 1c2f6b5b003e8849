//! Running a unit of work again when the store asks for it.

use signpost_domain::{AccountId, Link, Refusal};

use crate::accounts::OperatorError;
use crate::app_error::AppError;
use crate::ports::{StoreError, UnitOfWork, UpdateLinkError};

/// How often a unit of work is tried before its contention counts as a failure.
const ATTEMPTS: u32 = 5;

/// An error that may be the store's wish to have the unit of work run again.
pub(crate) trait MaybeContended {
    /// Whether it is.
    fn is_contended(&self) -> bool;
}

impl MaybeContended for AppError {
    fn is_contended(&self) -> bool {
        matches!(self, Self::Store(StoreError::Contended))
    }
}

impl MaybeContended for OperatorError {
    fn is_contended(&self) -> bool {
        matches!(self, Self::Broken(error) if error.is_contended())
    }
}

/// Runs `attempt`, which must begin and commit a unit of work of its own, and runs it whole again while the
/// store asks for that ([`StoreError::Contended`]), at most five times.
pub(crate) async fn retried<T, E: MaybeContended, F: Future<Output = Result<T, E>>>(
    attempt: impl Fn() -> F,
) -> Result<T, E> {
    for number in 1..ATTEMPTS {
        match attempt().await {
            Err(error) if error.is_contended() => {
                tracing::debug!(number, "the store asks to run the unit of work again");
            }
            outcome => return outcome,
        }
    }
    attempt().await
}

/// Writes `after` over `before`, which the unit of work has locked, and ends it.
pub(crate) async fn write_over(
    mut work: Box<dyn UnitOfWork>,
    account: AccountId,
    before: impl Into<Link>,
    after: impl Into<Link>,
) -> Result<(), AppError> {
    match work.update_link(account, &before.into(), &after.into()).await {
        Ok(()) => Ok(work.commit().await?),
        Err(UpdateLinkError::AddressTaken) => Err(Refusal::AddressTaken.into()),
        Err(UpdateLinkError::GroupMissing) => Err(Refusal::GroupNotFound.into()),
        Err(UpdateLinkError::Store(error)) => Err(error.into()),
    }
}
