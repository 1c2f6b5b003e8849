//! The processor time and memory of processes.

use std::fs;

use anyhow::{Context as _, Result};
use peak_alloc::PeakAlloc;

/// The ticks per second of the times in `/proc`.
const TICKS: f64 = 100.0;

/// The processor time of a process and the children that it has waited for, in seconds.
pub(crate) fn processor_seconds(process: &str) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok());
    let [user, system] = [11, 12].map(ticks);
    Ok((user.context("user time")? + system.context("system time")?) / TICKS)
}

/// Counts the allocations of this process. SQLite has its own allocator, so its page cache of a few MiB is not counted.
#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Resets the peak, and returns the current use of memory in MiB.
pub(crate) fn begin_peak() -> f64 {
    ALLOCATED.reset_peak_usage();
    f64::from(ALLOCATED.current_usage_as_mb())
}

/// The peak use of memory since [`begin_peak`], in MiB.
pub(crate) fn peak() -> f64 {
    f64::from(ALLOCATED.peak_usage_as_mb())
}

/// The children of a process.
pub(crate) fn children(process: u32) -> Result<Vec<String>> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    Ok(children.split_whitespace().map(str::to_owned).collect())
}
