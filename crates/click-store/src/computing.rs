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

/// The kinds of computations. None waits for another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// It ends within milliseconds.
    Short,
    /// It may take longer. Such computations use half of the cores, at least one, and leave the others to short ones.
    Long,
    /// Packing clicks, one step at a time. While clicks are not packed, every question reads them.
    Packing,
    /// Digesting and sealing days, one day at a time.
    Days,
    /// Building segments of a search index, one at a time.
    SearchIndex,
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
    packing: Arc<Semaphore>,
    days: Arc<Semaphore>,
    search_index: Arc<Semaphore>,
}

static THREADS: LazyLock<io::Result<Threads>> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    let long = (cores / 2).max(1);
    let runtime = Builder::new_current_thread()
        .thread_name("counting")
        // A short computation always finds a thread.
        .max_blocking_threads(cores.max(long + 4))
        .on_thread_start(|| Priority::of_counting().take())
        .build()?;
    let turns = |at_once: usize| Arc::new(Semaphore::new(at_once));
    Ok(Threads { runtime, long: turns(long), packing: turns(1), days: turns(1), search_index: turns(1) })
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

/// Waits for a turn of the lane, without a time limit, and runs `work` on one of the threads. Once it has begun, it runs to its
/// end, even if the caller stops waiting.
///
/// # Errors
/// [`ComputeError`] if the threads could not be started, or `work` panicked.
pub async fn compute<T: Send + 'static>(
    lane: Lane,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ComputeError> {
    let threads = THREADS.as_ref().map_err(|error| ComputeError::NoThreads(error.to_string()))?;
    let failed = |error: &dyn std::error::Error| ComputeError::Failed(error.to_string());
    let turns = match lane {
        Lane::Short => None,
        Lane::Long => Some(&threads.long),
        Lane::Packing => Some(&threads.packing),
        Lane::Days => Some(&threads.days),
        Lane::SearchIndex => Some(&threads.search_index),
    };
    let turn = match turns {
        Some(turns) => Some(Arc::clone(turns).acquire_owned().await.map_err(|error| failed(&error))?),
        None => None,
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

    const LANES: [Lane; 5] = [Lane::Short, Lane::Long, Lane::Packing, Lane::Days, Lane::SearchIndex];

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn r46_computations_run_at_idle_priority() {
        let policy = || thread_priority::thread_schedule_policy().unwrap();
        for lane in LANES {
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
    async fn r46_no_lane_waits_for_another() {
        let cores = available_parallelism().map_or(1, usize::from);
        for held in LANES.into_iter().filter(|lane| *lane != Lane::Short) {
            let running = if held == Lane::Long { (cores / 2).max(1) } else { 1 };
            let ((begun_to, begun), (end, ended)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
            let ended = Arc::new(std::sync::Mutex::new(ended));
            let holders: Vec<_> = (0..2 * cores)
                .map(|_| {
                    let (begun_to, ended) = (begun_to.clone(), Arc::clone(&ended));
                    tokio::spawn(compute(held, move || {
                        let _ = begun_to.send(());
                        let _ = ended.lock().map(|ended| ended.recv());
                    }))
                })
                .collect();
            for _ in 0..running {
                begun.recv().unwrap();
            }
            for lane in LANES.into_iter().filter(|lane| *lane != held) {
                let other = tokio::time::timeout(Duration::from_mins(1), compute(lane, || 1)).await;
                assert_eq!(other.expect("it waits").unwrap(), 1, "{lane:?} beside {held:?}");
            }
            drop(end);
            for holder in holders {
                holder.await.unwrap().unwrap();
            }
        }
    }
}
