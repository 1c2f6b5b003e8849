//! Processes by their numbers, as Linux tells of them.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a signal may take to do what it does.
const PATIENCE: Duration = Duration::from_mins(1);

/// Sends the signal of this name to those that are there.
pub(crate) fn signal(name: &str, processes: &[u32]) {
    let numbers = processes.iter().map(u32::to_string);
    // Some may have ended, which `kill` calls a failure.
    let _ =
        Command::new("kill").arg(format!("-{name}")).args(numbers).stderr(Stdio::null()).status().unwrap();
}

/// Stops a process and all that it has started, and gives their numbers, its own first.
pub(crate) fn stop_family(parent: u32) -> Vec<u32> {
    signal("STOP", &[parent]);
    // Before that it may start more.
    wait_until(parent, |state| state.is_none_or(|state| matches!(state, 'T' | 'Z')));
    let children = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let process = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let (_, of) = state_and_parent(process)?;
        (of == parent).then_some(process)
    });
    let mut family = vec![parent];
    family.extend(children);
    signal("STOP", &family);
    family
}

/// Waits until a process has ended; whether its parent has taken note does not matter.
pub(crate) fn wait_for_end(process: u32) {
    wait_until(process, |state| state.is_none_or(|state| state == 'Z'));
}

fn wait_until(process: u32, is_so: impl Fn(Option<char>) -> bool) {
    let ends = Instant::now() + PATIENCE;
    while !is_so(state_and_parent(process).map(|(state, _)| state)) {
        assert!(Instant::now() < ends, "process {process} takes no notice of a signal");
        // Nothing tells of the state of a process that is not a child.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// `None` where there is no such process.
fn state_and_parent(process: u32) -> Option<(char, u32)> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
