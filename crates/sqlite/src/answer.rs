//! Waiting for a thread's answer, within a time limit (D6).

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::failure::Failure;

/// Where a thread sends its answer. [`oneshot::Sender::is_closed`] tells whether the caller has stopped waiting.
pub(crate) type AnswerTo<T> = oneshot::Sender<Result<T, Failure>>;

/// The answer, or [`StoreError::Unavailable`] at the deadline. Giving up drops the receiving end, so the thread does not
/// start, or rolls back.
pub(crate) async fn answer_by<T>(
    ends: Instant,
    answer: oneshot::Receiver<Result<T, Failure>>,
) -> Result<Result<T, Failure>, StoreError> {
    answer_or(ends, answer, out_of_time).await
}

/// The answer to a commit. A commit that has started is not stopped by giving up.
pub(crate) async fn commit_by(
    ends: Instant,
    answer: oneshot::Receiver<Result<(), Failure>>,
) -> Result<Result<(), Failure>, StoreError> {
    let unknown = "the store did not answer a commit within its time limit; it is unknown whether the commit took effect";
    answer_or(ends, answer, || StoreError::unavailable(unknown)).await
}

async fn answer_or<T>(
    ends: Instant,
    answer: oneshot::Receiver<Result<T, Failure>>,
    late: impl FnOnce() -> StoreError,
) -> Result<Result<T, Failure>, StoreError> {
    match tokio::time::timeout_at(ends.into(), answer).await {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(_)) => Err(StoreError::unavailable("the store rolled the unit of work back, or was closed")),
        Err(_) => Err(late()),
    }
}

/// Waits for one of the turns, in order of arrival. Fails with [`StoreError::Unavailable`] at the deadline.
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

/// The deadline of a call that starts now.
pub(crate) fn end_of_call(time_limit: Duration) -> Instant {
    Instant::now() + time_limit
}
