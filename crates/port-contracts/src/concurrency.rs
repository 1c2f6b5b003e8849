//! Many tasks at once.

use std::sync::Arc;

use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// Runs `task` so many times at once, each with its number, and gives what they returned. None starts before
/// all are ready.
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
