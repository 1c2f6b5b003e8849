//! The times of requests that follow each other at a pace on one connection.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::connection::Connection;
use crate::figure::{Figure, Goal};

/// The interval between an answer and the next request.
const PAUSE: Duration = Duration::from_millis(1);

/// Times of requests, fastest first.
#[derive(Debug, Clone)]
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    /// Sends these requests in turn, again and again, until `is_over` after one of them.
    pub(super) fn of(
        connection: &mut Connection,
        requests: &[Vec<u8>],
        mut is_over: impl FnMut() -> bool,
    ) -> Result<Self> {
        let mut times = Vec::new();
        for request in requests.iter().cycle() {
            let began = Instant::now();
            connection.send(request)?;
            times.push(began.elapsed());
            if is_over() {
                break;
            }
            thread::sleep(PAUSE);
        }
        times.sort_unstable();
        Ok(Self(times))
    }

    /// Sends this number of requests.
    pub(super) fn of_count(connection: &mut Connection, requests: &[Vec<u8>], count: usize) -> Result<Self> {
        let mut left = count;
        Self::of(connection, requests, || {
            left = left.saturating_sub(1);
            left == 0
        })
    }

    pub(super) const fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that this percentage of the requests does not exceed, in milliseconds.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let place = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }
}

/// The times of a round: calm, and busy with a disturbance.
pub(super) type CalmAndBusy = (Latencies, Latencies);

/// Rows of a table: the medians of the rounds, and the ratio of both, with a goal for the 99th percentile.
pub(super) fn rows(rounds: &[CalmAndBusy], p99: Goal) -> Vec<String> {
    [("p50", 50, Goal::None), ("p99", 99, p99)]
        .map(|(name, percent, goal)| {
            let median = |of: &dyn Fn(&CalmAndBusy) -> f64| Figure::of(rounds.iter().map(of).collect());
            let calm = median(&|(calm, _)| calm.percentile(percent)).median;
            let busy = median(&|(_, busy)| busy.percentile(percent)).median;
            let ratio = median(&|(calm, busy)| busy.percentile(percent) / calm.percentile(percent));
            let (goal, met) = goal.shown(ratio.median);
            let Figure { median: ratio, spread } = ratio;
            let spread = spread * 100.0;
            format!("{name:<6}{calm:>9.3} ms{busy:>9.3} ms{ratio:>8.2}{spread:>8.0} %  {goal} {met}")
        })
        .into()
}

/// The head of [`rows`], with the name of the disturbance.
pub(super) fn head(disturbance: &str) -> String {
    format!("{:<6}{:>12}{disturbance:>12}{:>8}{:>10}", "", "calm", "ratio", "spread")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_sorted_times() {
        let times = Latencies((1..=200).map(Duration::from_millis).collect());
        for (percent, expected) in [(0, 1.0), (50, 101.0), (99, 199.0), (100, 200.0)] {
            assert!((times.percentile(percent) - expected).abs() < 1e-9, "{percent}");
        }
        assert!(Latencies(Vec::new()).percentile(50).is_nan());
    }
}
