//! Runs jobs side by side.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};

use super::job::{Job, JobResult};

/// Runs the jobs in at most `lanes` at a time, in their order. `finished` is called after each, never for two at once.
///
/// Returns the results in the order of the jobs.
pub(crate) fn run(
    jobs: &[Job],
    lanes: usize,
    finished: &(impl Fn(&Job, &JobResult) -> Result<()> + Sync),
) -> Result<Vec<JobResult>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let lane = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(number) else { return Ok(()) };
            let result = job.run()?;
            let mut results = results.lock().ok().context("another lane has panicked")?;
            finished(job, &result)?;
            results.push((number, result));
        }
    };
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().ok().context("a lane has panicked")?)
    })?;
    let mut results = results.into_inner().ok().context("a lane has panicked")?;
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
