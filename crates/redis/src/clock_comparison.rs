//! Comparing the clocks of this node and Redis.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use signpost_app::ports::Clock;
use signpost_domain::Timestamp;
use tokio::time::Instant;

/// Two synchronized clocks never differ by this much.
const MOST_MILLIS: u64 = 1_000;

const INTERVAL: Duration = Duration::from_mins(1);

/// Compares the node's clock, which names the windows, with the clock of Redis. All nodes see that one, and it serves no
/// other purpose.
pub(crate) struct ClockComparison {
    clock: Arc<dyn Clock>,
    warned_at: Mutex<Option<Instant>>,
}

impl ClockComparison {
    pub(crate) fn by(clock: Arc<dyn Clock>) -> Self {
        Self { clock, warned_at: Mutex::default() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Takes the answer of Redis' `TIME`, given between `asked` and now. Warns if the clocks differ, at most once a minute.
    pub(crate) fn compare(&self, asked: Timestamp, seconds: &str, micros: &str) {
        let (Ok(seconds), Ok(micros)) = (seconds.parse::<i64>(), micros.parse::<i64>()) else { return };
        let theirs = seconds.saturating_mul(1_000).saturating_add(micros / 1_000);
        let skew = skew(asked.unix_millis(), theirs, self.clock.now().unix_millis());
        if skew.unsigned_abs() <= MOST_MILLIS {
            return;
        }
        let mut warned_at = self.warned_at.lock().unwrap_or_else(PoisonError::into_inner);
        if warned_at.is_none_or(|at| at.elapsed() >= INTERVAL) {
            *warned_at = Some(Instant::now());
            tracing::warn!(
                milliseconds_ahead_of_redis = skew,
                "the clocks of this node and of Redis differ: this node may count requests in other minutes than other nodes"
            );
        }
    }
}

/// How far our clock is ahead at least, in milliseconds; negative if it is behind. Their clock was read between two
/// reads of ours.
fn skew(before: i64, theirs: i64, after: i64) -> i64 {
    if theirs < before {
        before.saturating_sub(theirs)
    } else if theirs > after {
        after.saturating_sub(theirs)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::skew;

    #[test]
    fn network_delay_is_no_clock_difference() {
        for (before, theirs, after, expected) in
            [(10, 10, 10, 0), (10, 700, 900, 0), (10, 5, 900, 5), (10, 905, 900, -5), (10, 10, 5, -5)]
        {
            assert_eq!(skew(before, theirs, after), expected, "{before} {theirs} {after}");
        }
    }
}
