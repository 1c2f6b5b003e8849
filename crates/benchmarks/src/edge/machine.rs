//! Cores, pinning, processor time and memory on Linux.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

/// The unit of core times on all supported Linux systems.
const TICK: Duration = Duration::from_millis(10);

/// How often to look whether the memory of a program has stopped growing, how long to wait between two looks, and the bytes that do
/// not count as growth.
const MOST_LOOKS: u32 = 30;
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
const HARDLY: u64 = 128 * 1024;

/// The core for the measured program and the core for the load: the first and the last that we may use.
pub(super) fn cores() -> Result<(u32, u32)> {
    let status = fs::read_to_string("/proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    ends(list.unwrap_or_default()).context("the system does not report its cores")
}

/// The first and the last of `0-3,6`.
fn ends(list: &str) -> Option<(u32, u32)> {
    let mut numbers = list.trim().split([',', '-']).map(|number| number.parse().ok());
    let first = numbers.next()??;
    Some((first, numbers.next_back().unwrap_or(Some(first))?))
}

/// A command that runs a program on one core.
pub(super) fn on_core(core: u32, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// Pins this thread to a core.
pub(super) fn pin_this_thread(core: u32) -> Result<()> {
    let thread = fs::read_link("/proc/thread-self")?;
    let number = thread.file_name().context("a thread without a number")?;
    let mut command = Command::new("taskset");
    command.args(["-c", "-p", &core.to_string()]).arg(number).stdout(Stdio::null());
    ensure!(command.status()?.success(), "`taskset` fails");
    Ok(())
}

/// The processor time of a process, its threads and its running children.
pub(super) fn work_of(process: u32) -> Result<Duration> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    [process].into_iter().chain(children).map(work_of_one).sum()
}

fn work_of_one(process: u32) -> Result<Duration> {
    let threads = fs::read_dir(format!("/proc/{process}/task"))?;
    let mut work = Duration::ZERO;
    for thread in threads {
        // A thread that has ended since did no work for visitors.
        let Ok(statistics) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        let nanoseconds = statistics.split(' ').next().and_then(|number| number.parse().ok());
        work += Duration::from_nanos(nanoseconds.context("no time of a thread")?);
    }
    Ok(work)
}

/// The busy time and the total time of a core.
pub(super) fn busy(core: u32) -> Result<(Duration, Duration)> {
    let statistics = fs::read_to_string("/proc/stat")?;
    let name = format!("cpu{core} ");
    let line = statistics.lines().find_map(|line| line.strip_prefix(&name)).context("no such core")?;
    let times: Vec<u32> = line.split_whitespace().take(8).filter_map(|time| time.parse().ok()).collect();
    let all: u32 = times.iter().sum();
    // The fourth and fifth are idle times.
    let idle: u32 = times.iter().skip(3).take(2).sum();
    Ok((TICK * (all - idle), TICK * all))
}

/// The load average of the last minute.
pub(super) fn load_average() -> Result<String> {
    let averages = fs::read_to_string("/proc/loadavg")?;
    Ok(averages.split(' ').next().unwrap_or_default().to_owned())
}

/// The private memory of a process in bytes, without pages of files.
pub(super) fn own_memory(process: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).context("no RssAnon")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// The private memory of a process in bytes, once it has hardly grown for some seconds.
pub(super) fn settled_memory(process: u32) -> Result<u64> {
    let mut memory = own_memory(process)?;
    for _ in 0..MOST_LOOKS {
        thread::sleep(LOOK_INTERVAL);
        let grown = own_memory(process)?;
        if grown <= memory + HARDLY {
            return Ok(grown);
        }
        memory = grown;
    }
    bail!("the memory of the program grows on and on")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_core_are_parsed_from_any_list() {
        assert_eq!(ends("\t0-1"), Some((0, 1)));
        assert_eq!(ends("2,4-7"), Some((2, 7)));
        assert_eq!(ends("3"), Some((3, 3)));
        assert_eq!(ends(""), None);
    }

    #[test]
    fn processor_time_is_counted_for_the_working_process() {
        let this = std::process::id();
        let before = work_of(this).unwrap();
        let mut number = 1_u64;
        while work_of(this).unwrap() < before + Duration::from_millis(2) {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        let (busy, all) = busy(cores().unwrap().0).unwrap();
        assert!(busy <= all);
    }
}
