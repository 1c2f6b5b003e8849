//! Scenarios that must run within one calendar minute or one day.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MINUTE: u64 = 60;
const DAY: u64 = 86_400;

/// How often a scenario runs until it stays within one window.
const RUNS: usize = 5;

/// How many of these runs start at once. The others wait for the next minute, so that they have all of it.
const RUNS_AT_ONCE: usize = 2;

/// Runs a scenario that needs one calendar minute. If the minute turns during a run, the run proves nothing, and the
/// scenario runs again. See [`within_one`].
pub fn within_one_minute<T>(scenario: impl Fn() -> T) -> T {
    let await_next = || std::thread::sleep(Duration::from_secs(MINUTE - since_epoch() % MINUTE));
    within_one(|| since_epoch() / MINUTE, await_next, scenario)
}

/// Like [`within_one_minute`], for a day in UTC. A run after one in which the day turned has nearly all of the next day.
pub fn within_one_day<T>(scenario: impl Fn() -> T) -> T {
    within_one(|| since_epoch() / DAY, || (), scenario)
}

/// Seconds since 1970.
fn since_epoch() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Runs the scenario until it stays within one window, and returns or fails as that run did. A run over two windows
/// counts neither as a success nor as a failure. The later runs call `await_next` before they start.
fn within_one<T>(window: impl Fn() -> u64, await_next: impl Fn(), scenario: impl Fn() -> T) -> T {
    for run in 0..RUNS {
        if run >= RUNS_AT_ONCE {
            await_next();
        }
        let begin = window();
        let outcome = catch_unwind(AssertUnwindSafe(&scenario));
        if begin == window() {
            return outcome.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
    panic!("the scenario takes longer than its window")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Runs a scenario that fails in the runs of `fails`, while the window turns in the runs of `turns`. Returns the
    /// numbers of runs and of waits for the next window, and whether the scenario passed.
    fn run(fails: &[bool], turns: &[bool]) -> (usize, usize, bool) {
        let (runs, waits, window) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let passed = catch_unwind(AssertUnwindSafe(|| {
            within_one(
                || window.get(),
                || waits.set(waits.get() + 1),
                || {
                    let run = runs.replace(runs.get() + 1);
                    window.set(window.get() + u64::from(turns[run]));
                    assert!(!fails[run], "a failure of this test's making");
                },
            );
        }));
        (runs.get(), waits.get(), passed.is_ok())
    }

    #[test]
    fn a_failure_within_one_window_counts_at_once() {
        assert_eq!(run(&[true], &[false]), (1, 0, false));
        assert_eq!(run(&[false], &[false]), (1, 0, true));
    }

    #[test]
    fn a_run_over_two_windows_is_repeated() {
        assert_eq!(run(&[true, false], &[true, false]), (2, 0, true));
        assert_eq!(run(&[false, false], &[true, false]), (2, 0, true));
        assert_eq!(run(&[false, true], &[true, false]), (2, 0, false));
        assert_eq!(run(&[true, true], &[true, false]), (2, 0, false));
    }

    #[test]
    fn later_runs_wait_for_the_next_window() {
        assert_eq!(run(&[false; 4], &[true, true, true, false]), (4, 2, true));
        assert_eq!(run(&[false, false, false, true], &[true, true, true, false]), (4, 2, false));
    }

    #[test]
    fn a_scenario_that_never_fits_into_a_window_fails() {
        assert_eq!(run(&[false; RUNS], &[true; RUNS]), (RUNS, 3, false));
        assert_eq!(run(&[true; RUNS], &[true; RUNS]), (RUNS, 3, false));
    }
}
