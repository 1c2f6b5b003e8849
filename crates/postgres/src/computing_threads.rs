//! Threads for long computations: counting clicks, packing them, building segments of the search index.
//!
//! They run at low priority, so that a question about a year of clicks takes no core from answers to visitors (R46). A
//! thread cannot raise its own priority again, so these threads are separate from the program's runtime.

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

/// Only the blocking threads of this runtime are used. All stores of the process share them, because they share the cores.
static THREADS: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Builder::new_current_thread()
        .thread_name("postgres-compute")
        .max_blocking_threads(cores)
        .on_thread_start(step_back)
        .build()
});

/// Gives this thread idle priority, except in debug builds. Those exist for tests, which keep all cores busy with many
/// programs, so an idle thread would hardly run and its callers would reach their time limits.
fn step_back() {
    if !cfg!(debug_assertions) {
        become_idle();
    }
}

/// Gives this thread idle priority, so that it only runs on otherwise idle cores (ADR 53).
fn become_idle() {
    #[cfg(target_os = "linux")]
    if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, IDLE) {
        tracing::warn!(
            ?error,
            "cannot lower the priority of a computing thread; counting clicks competes with requests"
        );
    }
}

#[cfg(target_os = "linux")]
const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

/// Runs `work` on one of the threads. The work runs to its end, even if the caller stops waiting.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let threads = THREADS
        .as_ref()
        .map_err(|error| Failure::Other(format!("cannot start the computing threads: {error}")))?;
    let done = threads.spawn_blocking(work).await;
    done.map_err(|error| Failure::Other(format!("computing failed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn r46_long_computations_run_at_idle_priority() {
        let policy = || thread_priority::thread_schedule_policy().unwrap();
        let is_idle = compute(policy).await.unwrap() == IDLE;
        assert_eq!(is_idle, !cfg!(debug_assertions));
        let idle = std::thread::spawn(move || {
            become_idle();
            policy()
        });
        assert_eq!(idle.join().unwrap(), IDLE);
        assert_ne!(policy(), IDLE);
    }

    #[tokio::test]
    async fn panic_fails_only_its_own_call() {
        let outcome = compute(|| panic!("a defect in counting")).await;
        assert!(matches!(outcome, Err::<(), _>(Failure::Other(_))));
        assert_eq!(compute(|| 1).await.unwrap(), 1);
    }
}
