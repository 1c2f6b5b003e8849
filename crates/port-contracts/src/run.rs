//! Running one case as one test, and many tasks within a case.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// The time limit of a case. The slowest cases take seconds, but other test programs may keep all cores and the disk busy.
const TIME_LIMIT: Duration = Duration::from_mins(10);

/// The case of this name.
///
/// Call it from a function that is not generic. Rust compiles async functions and closures again in each crate whose
/// generic code names them, so every adapter would compile all cases once more.
pub(crate) fn find<C: Copy>(cases: &[(&str, &str, C)], module: &str, case: &str) -> C {
    let found = cases.iter().find(|(of, name, _)| (*of, *name) == (module, case));
    found.expect("the list of tests is the list of cases").2
}

/// Runs a case in its own runtime. It has more threads than there are cores, so that the system interrupts tasks at many
/// different points.
pub(crate) fn run(case: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(TIME_LIMIT, case).await.expect("the case hangs");
    });
}

/// Runs `tasks` copies of `task` concurrently, each with its number, and returns their results. A barrier starts them
/// together.
pub(crate) async fn at_once<T, F>(tasks: u64, task: impl Fn(u64) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(usize::try_from(tasks).unwrap()));
    let mut set = JoinSet::new();
    for number in 0..tasks {
        let (barrier, task) = (Arc::clone(&barrier), task(number));
        set.spawn(async move {
            barrier.wait().await;
            task.await
        });
    }
    set.join_all().await
}
