//! Signals to processes and their states, by process id on Linux.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit for the effect of a signal.
const PATIENCE: Duration = Duration::from_mins(2);

/// Sends the signal of this name to those processes that still run.
pub(crate) fn signal(name: &str, processes: &[u32]) {
    let numbers = processes.iter().map(u32::to_string);
    // Some may have ended, which `kill` reports as a failure.
    let _ =
        Command::new("kill").arg(format!("-{name}")).args(numbers).stderr(Stdio::null()).status().unwrap();
}

/// Pauses a process and all its children, and returns their ids, the parent's first.
pub(crate) fn stop_family(parent: u32) -> Vec<u32> {
    // Until it is paused, it may start more children.
    pause(parent);
    let children = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let process = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let (_, of) = state_and_parent(process)?;
        (of == parent).then_some(process)
    });
    let mut family = vec![parent];
    family.extend(children);
    family.iter().copied().for_each(pause);
    family
}

/// Pauses a process, and waits until it is paused: a signal takes effect a moment later.
pub(crate) fn pause(process: u32) {
    signal("STOP", &[process]);
    wait_until(process, is_paused);
}

fn is_paused(state: Option<char>) -> bool {
    state.is_none_or(|state| matches!(state, 'T' | 'Z'))
}

/// Waits until a process has ended, even if its parent has not reaped it.
pub(crate) fn wait_for_end(process: u32) {
    wait_until(process, |state| state.is_none_or(|state| state == 'Z'));
}

fn wait_until(process: u32, is_so: impl Fn(Option<char>) -> bool) {
    let ends = Instant::now() + PATIENCE;
    while !is_so(state_and_parent(process).map(|(state, _)| state)) {
        assert!(Instant::now() < ends, "process {process} does not react to a signal");
        // Poll: the system does not notify about processes that are not children.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The state and the parent of a process; `None` if it does not exist.
fn state_and_parent(process: u32) -> Option<(char, u32)> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may contain any characters.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
