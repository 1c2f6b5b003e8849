//! Scenarios that must run within one calendar minute or one day.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs a scenario that needs one calendar minute. If the minute turns during the run, the run proves nothing.
/// The scenario then runs once more, with a whole minute ahead, and that run counts. See [`within_one`].
pub fn within_one_minute<T>(scenario: impl Fn() -> T) -> T {
    within_one(number_of_window(60), scenario)
}

/// Like [`within_one_minute`], for a day in UTC.
pub fn within_one_day<T>(scenario: impl Fn() -> T) -> T {
    within_one(number_of_window(86_400), scenario)
}

/// Returns the number of the current window.
fn number_of_window(seconds: u64) -> impl Fn() -> u64 {
    move || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / seconds
}

/// Runs the scenario within one window, with at most two runs. In the first run a failure counts unless the
/// window turned; in the second run it always counts. A success counts only within one window.
fn within_one<T>(window: impl Fn() -> u64, scenario: impl Fn() -> T) -> T {
    let run = || {
        let begin = window();
        let outcome = catch_unwind(AssertUnwindSafe(&scenario));
        (outcome, begin == window())
    };
    let (outcome, is_one_window) = match run() {
        (_, false) => run(),
        first => first,
    };
    let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
    assert!(is_one_window, "the scenario takes longer than its window");
    outcome
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Runs a scenario that fails in the runs of `fails`, while the window turns in the runs of `turns`.
    /// Returns the number of runs, and whether it passed.
    fn run(fails: &[bool], turns: &[bool]) -> (usize, bool) {
        let (runs, window) = (Cell::new(0), Cell::new(0));
        let passed = catch_unwind(AssertUnwindSafe(|| {
            within_one(
                || window.get(),
                || {
                    let run = runs.replace(runs.get() + 1);
                    window.set(window.get() + u64::from(turns[run]));
                    assert!(!fails[run], "a failure of this test's making");
                },
            );
        }));
        (runs.get(), passed.is_ok())
    }

    #[test]
    fn a_failure_within_one_window_counts_at_once() {
        assert_eq!(run(&[true], &[false]), (1, false));
        assert_eq!(run(&[false], &[false]), (1, true));
    }

    #[test]
    fn a_run_over_two_windows_is_repeated_once_and_then_counts() {
        assert_eq!(run(&[true, false], &[true, false]), (2, true));
        assert_eq!(run(&[false, false], &[true, false]), (2, true));
        assert_eq!(run(&[false, true], &[true, false]), (2, false));
        assert_eq!(run(&[true, true], &[true, false]), (2, false));
    }

    #[test]
    fn a_scenario_that_never_fits_into_a_window_fails() {
        assert_eq!(run(&[false, false], &[true, true]), (2, false));
        assert_eq!(run(&[true, true], &[true, true]), (2, false));
    }
}
