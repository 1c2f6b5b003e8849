//! Waiting for a thread's answer, but not for ever (D6).

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::failure::Failure;

/// Where a thread leaves its answer. Once nobody waits for it, [`oneshot::Sender::is_closed`] says so.
pub(crate) type AnswerTo<T> = oneshot::Sender<Result<T, Failure>>;

/// The answer, or [`StoreError::Unavailable`] once the time is up. Giving up drops the receiving end, by which the
/// thread knows that it need not begin, or that it must undo.
pub(crate) async fn answer_by<T>(
    ends: Instant,
    answer: oneshot::Receiver<Result<T, Failure>>,
) -> Result<Result<T, Failure>, StoreError> {
    answer_or(ends, answer, out_of_time).await
}

/// The answer to a commit. Once it has begun, giving up does not stop it.
pub(crate) async fn commit_by(
    ends: Instant,
    answer: oneshot::Receiver<Result<(), Failure>>,
) -> Result<Result<(), Failure>, StoreError> {
    let unknown =
        "the store did not answer a commit within its time limit; whether it took place is not known";
    answer_or(ends, answer, || StoreError::unavailable(unknown)).await
}

async fn answer_or<T>(
    ends: Instant,
    answer: oneshot::Receiver<Result<T, Failure>>,
    late: impl FnOnce() -> StoreError,
) -> Result<Result<T, Failure>, StoreError> {
    match tokio::time::timeout_at(ends.into(), answer).await {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(_)) => Err(StoreError::unavailable("the store undid the unit of work, or was closed")),
        Err(_) => Err(late()),
    }
}

/// One of a number of turns, or [`StoreError::Unavailable`] once the time is up. They are given out in order.
pub(crate) async fn turn_by(
    ends: Instant,
    turns: &Arc<Semaphore>,
) -> Result<OwnedSemaphorePermit, StoreError> {
    match tokio::time::timeout_at(ends.into(), Arc::clone(turns).acquire_owned()).await {
        Ok(turn) => turn.map_err(StoreError::unavailable),
        Err(_) => Err(out_of_time()),
    }
}

fn out_of_time() -> StoreError {
    StoreError::unavailable("the store did not answer within its time limit")
}

/// When a call that begins now must be over.
pub(crate) fn end_of_call(time_limit: Duration) -> Instant {
    Instant::now() + time_limit
}
