//! How often something that goes on is logged.

use std::time::{Duration, Instant};

/// Lets one line a minute through.
#[derive(Debug, Default)]
pub(crate) struct LogPace {
    last: Option<Instant>,
}

impl LogPace {
    const INTERVAL: Duration = Duration::from_mins(1);

    /// Whether a line may be logged now; if so, the next one may a minute later.
    pub(crate) fn is_due(&mut self) -> bool {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= Self::INTERVAL);
        if is_due {
            self.last = Some(Instant::now());
        }
        is_due
    }
}
