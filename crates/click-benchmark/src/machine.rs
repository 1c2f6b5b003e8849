//! What this process has used.

use std::fs;

use anyhow::{Context as _, Result};

/// The scheduler's ticks in a second, in which `/proc` counts.
const TICKS: f64 = 100.0;

/// The processor time of a process and the children that it has waited for, in seconds.
pub(crate) fn processor_seconds(process: &str) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok());
    let [user, system] = [11, 12].map(ticks);
    Ok((user.context("user time")? + system.context("system time")?) / TICKS)
}

/// Forgets the highest use of memory so far, and gives what is used now, in MiB.
pub(crate) fn begin_peak() -> Result<f64> {
    fs::write("/proc/self/clear_refs", "5")?;
    memory("VmRSS:")
}

/// The highest use of memory since [`begin_peak`], in MiB.
pub(crate) fn peak() -> Result<f64> {
    memory("VmHWM:")
}

fn memory(label: &str) -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(label)).context("no such line")?;
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kibibytes / 1024.0)
}

/// The children of a process.
pub(crate) fn children(process: u32) -> Result<Vec<String>> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    Ok(children.split_whitespace().map(str::to_owned).collect())
}
