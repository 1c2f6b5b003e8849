//! The processor time and voluntary context switches of processes on Linux.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// The unit of processor times on all supported Linux systems.
const TICK: Duration = Duration::from_millis(10);

/// The time of a process, its running children and its reaped children.
pub(super) fn of_family(pid: u32) -> Result<Duration> {
    let [own, children] = of_process(&pid.to_string())?;
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    // A child that has ended since is counted with its parent.
    let running = list.split_whitespace().filter_map(|child| of_process(child).ok());
    Ok(own + children + running.map(|[own, _]| own).sum::<Duration>())
}

/// The times of this process and of its reaped children.
pub(super) fn of_this_process() -> Result<[Duration; 2]> {
    of_process("self")
}

/// The voluntary context switches of a process's threads, without ended threads.
pub(super) fn waits_of(pid: u32) -> Result<u64> {
    let mut waits = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let Ok(status) = fs::read_to_string(thread?.path().join("status")) else { continue };
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        waits += line
            .and_then(|number| number.trim().parse::<u64>().ok())
            .context("no count of context switches")?;
    }
    Ok(waits)
}

fn of_process(pid: &str) -> Result<[Duration; 2]> {
    let path = Path::new("/proc").join(pid).join("stat");
    let stat = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    times(&stat).with_context(|| format!("{} cannot be read", path.display()))
}

fn times(stat: &str) -> Option<[Duration; 2]> {
    // The name, in parentheses, may contain any characters.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11).map(|field| field.parse::<u32>().ok());
    let mut next = || fields.next().flatten();
    let (user, system, children_user, children_system) = (next()?, next()?, next()?, next()?);
    Some([TICK * (user + system), TICK * (children_user + children_system)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_after_any_process_name() {
        let stat = "17 (a ) b) S 1 17 17 0 -1 4194560 9 0 0 0 100 23 7 1 20 0 1 0 5";
        assert_eq!(times(stat), Some([TICK * 123, TICK * 8]));
        assert_eq!(times("17 (a) S"), None);
    }
}
