//! The deadlines of calls.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// The deadline of a call that starts now.
pub(crate) fn end_of_call(time_limit: Duration) -> Instant {
    Instant::now() + time_limit
}

/// Fails a call with [`Failure::OutOfTime`] at its deadline.
pub(crate) async fn in_time<T>(
    ends: Instant,
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::time::timeout_at(ends.into(), call).await.unwrap_or(Err(Failure::OutOfTime))
}
