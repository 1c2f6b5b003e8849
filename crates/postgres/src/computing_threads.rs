//! The threads for what computes at length: counting clicks, packing them, building segments of the index of texts.
//!
//! They have a low priority, so that answers to visitors do not wait for a core that a question about a year has taken (R46).
//! A thread cannot raise its priority again. So these are not threads of the runtime that the program runs on.

use std::io;
use std::sync::LazyLock;
use std::thread::available_parallelism;

#[cfg(target_os = "linux")]
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};
use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

/// Only its threads that may block are used. They are there for all stores of the process, since cores are.
static THREADS: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Builder::new_current_thread()
        .thread_name("postgres-compute")
        .max_blocking_threads(cores)
        .on_thread_start(step_back)
        .build()
});

/// From now on this thread runs only while no other wants its core (ADR 53).
fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, IDLE) {
        tracing::warn!(?error, "counting clicks has the priority of everything else");
    }
}

#[cfg(target_os = "linux")]
const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

/// Runs `work` on one of the threads. It goes on to its end, also if nobody waits for it any more.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let threads =
        THREADS.as_ref().map_err(|error| Failure::Other(format!("no threads to compute: {error}")))?;
    let done = threads.spawn_blocking(work).await;
    done.map_err(|error| Failure::Other(format!("computing failed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn r46_what_computes_at_length_steps_back_behind_answers() {
        let policy = || thread_priority::thread_schedule_policy().unwrap();
        assert_eq!(compute(policy).await.unwrap(), IDLE);
        assert_ne!(policy(), IDLE);
    }

    #[tokio::test]
    async fn a_panic_costs_one_answer() {
        let outcome = compute(|| panic!("a defect in counting")).await;
        assert!(matches!(outcome, Err::<(), _>(Failure::Other(_))));
        assert_eq!(compute(|| 1).await.unwrap(), 1);
    }
}
