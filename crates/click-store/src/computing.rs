//! Threads for long computations: counting clicks, packing them, building segments of a search index.
//!
//! They run at low priority, so that a question about a year of clicks takes no core from answers to visitors (R46). A
//! thread cannot raise its own priority again, so these threads are separate from the program's runtime.

use std::io;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use signpost_app::ports::StoreError;
#[cfg(target_os = "linux")]
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// The length of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// It ends within milliseconds.
    Short,
    /// It may take longer. Such computations use half of the cores, at least one, and leave the others to short ones.
    Long,
}

/// The scheduling priority of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Normal.
    Normal,
    /// Only on otherwise idle cores (ADR 53).
    Low,
}

#[cfg(target_os = "linux")]
const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

impl Priority {
    /// The priority of threads that count clicks: low, except in debug builds. Those exist for tests, which keep all cores
    /// busy with many programs, so a thread of low priority would hardly run and its callers would reach their time limits.
    #[must_use]
    pub const fn of_counting() -> Self {
        if cfg!(debug_assertions) { Self::Normal } else { Self::Low }
    }

    /// Sets the priority of this thread for good: a thread cannot raise its own priority.
    pub fn take(self) {
        #[cfg(target_os = "linux")]
        if self == Self::Low
            && let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, IDLE)
        {
            tracing::warn!(
                ?error,
                "cannot lower the priority of a thread; counting clicks competes with requests"
            );
        }
    }
}

/// The threads. All stores of the process share them, because they share the cores.
struct Threads {
    /// Only its blocking threads are used.
    runtime: Runtime,
    /// Turns for long computations. They are given in the order of arrival, so questions that take many turns share them.
    long: Arc<Semaphore>,
}

static THREADS: LazyLock<io::Result<Threads>> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    let runtime = Builder::new_current_thread()
        .thread_name("counting")
        .max_blocking_threads(cores.max(2))
        .on_thread_start(|| Priority::of_counting().take())
        .build()?;
    Ok(Threads { runtime, long: Arc::new(Semaphore::new((cores / 2).max(1))) })
});

/// A computation did not take place, or panicked.
#[derive(Debug, thiserror::Error)]
pub enum ComputeError {
    /// The threads could not be started.
    #[error("cannot start the threads that count clicks: {0}")]
    NoThreads(String),
    /// The computation panicked.
    #[error("computing failed: {0}")]
    Failed(String),
}

impl From<ComputeError> for StoreError {
    fn from(error: ComputeError) -> Self {
        Self::unavailable(error)
    }
}

/// Runs `work` on one of the threads. Once it has begun, it runs to its end, even if the caller stops waiting.
pub async fn compute<T: Send + 'static>(
    lane: Lane,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ComputeError> {
    let threads = THREADS.as_ref().map_err(|error| ComputeError::NoThreads(error.to_string()))?;
    let failed = |error: &dyn std::error::Error| ComputeError::Failed(error.to_string());
    let turn = match lane {
        Lane::Short => None,
        Lane::Long => Some(Arc::clone(&threads.long).acquire_owned().await.map_err(|error| failed(&error))?),
    };
    let done = threads.runtime.spawn_blocking(move || {
        // Held until the work ends, even if its caller is gone by then.
        let _turn = turn;
        work()
    });
    done.await.map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn r46_computations_run_at_idle_priority() {
        let policy = || thread_priority::thread_schedule_policy().unwrap();
        for lane in [Lane::Short, Lane::Long] {
            let is_idle = compute(lane, policy).await.unwrap() == IDLE;
            assert_eq!(is_idle, !cfg!(debug_assertions));
        }
        let idle = std::thread::spawn(move || {
            Priority::Low.take();
            policy()
        });
        assert_eq!(idle.join().unwrap(), IDLE);
        assert_ne!(policy(), IDLE);
    }

    #[tokio::test]
    async fn panic_fails_only_its_own_call() {
        let outcome = compute(Lane::Short, || panic!("a defect in counting")).await;
        assert!(matches!(outcome, Err::<(), _>(ComputeError::Failed(_))));
        assert_eq!(compute(Lane::Short, || 1).await.unwrap(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn r46_short_computations_do_not_wait_for_long_ones() {
        let cores = available_parallelism().map_or(1, usize::from);
        let ((begun_to, begun), (end, ended)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let long: Vec<_> = (0..2 * cores)
            .map(|_| {
                let (begun_to, ended) = (begun_to.clone(), Arc::clone(&ended));
                tokio::spawn(compute(Lane::Long, move || {
                    let _ = begun_to.send(());
                    let _ = ended.lock().map(|ended| ended.recv());
                }))
            })
            .collect();
        for _ in 0..(cores / 2).max(1) {
            begun.recv().unwrap();
        }
        let short = tokio::time::timeout(Duration::from_mins(1), compute(Lane::Short, || 1));
        assert_eq!(short.await.expect("it waits for a long one").unwrap(), 1);
        drop(end);
        for long in long {
            long.await.unwrap().unwrap();
        }
    }
}
