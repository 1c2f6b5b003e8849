//! Running one case as one test.

use std::time::Duration;

/// How long a case may take. The slowest need seconds; what takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// Runs a case in a runtime of its own, with more threads than there are cores, so that tasks are interrupted
/// at all kinds of places.
pub(crate) fn run(case: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(TIME_LIMIT, case).await.expect("the case hangs");
    });
}
