//! Questions about recorded clicks, and their export (D45 to D51, D66).

mod export;
mod export_permits;
mod links_asked;
mod questions;
mod recent;
mod turns;

use std::time::{Duration, Instant};

pub use export::{AskedClicks, Export, export_of_account, export_of_link};
pub use links_asked::LinkChoice;
pub use questions::{Asked, of_account, of_link};
pub use recent::recent_clicks;

use self::export_permits::ExportPermits;
use self::turns::Turns;
use crate::app_error::AppError;
use crate::ports::StoreError;

/// How much this node does for analytics at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalyticsBounds {
    /// How many questions and pages of exports run at once, at least one. Each keeps a core busy.
    pub at_once: usize,
    /// How many exports run at once, at least one. Each keeps a page of clicks in memory.
    pub exports: usize,
    /// The most links that a group or a domain may have for questions about it. Their ids are in memory meanwhile.
    pub links: usize,
    /// For how long a question may wait and run (D6, D51).
    pub time_limit: Duration,
}

impl Default for AnalyticsBounds {
    fn default() -> Self {
        Self { at_once: 1, exports: 8, links: 1_000_000, time_limit: Duration::from_secs(5) }
    }
}

impl AnalyticsBounds {
    /// As many questions at once as half of the cores, so that the others are for visitors and for the rest of the API.
    #[must_use]
    pub fn for_cores(cores: usize, time_limit: Duration) -> Self {
        Self { at_once: (cores / 2).max(1), time_limit, ..Self::default() }
    }
}

/// What questions of all accounts on this node share.
#[derive(Debug)]
pub struct Analytics {
    turns: Turns,
    exports: ExportPermits,
    max_links: usize,
    time_limit: Duration,
}

impl Analytics {
    /// Nothing runs yet.
    #[must_use]
    pub fn new(bounds: AnalyticsBounds) -> Self {
        let AnalyticsBounds { at_once, exports, links, time_limit } = bounds;
        Self {
            turns: Turns::new(at_once),
            exports: ExportPermits::new(exports),
            max_links: links,
            time_limit,
        }
    }

    /// When a question that comes now must be answered, its wait for a turn included. A use case does not wake up by itself to
    /// give up its wait: whoever awaits it drops it then, and reports [`AppError::AnalyticsBusy`].
    #[must_use]
    pub fn deadline(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.time_limit).unwrap_or(now)
    }
}

/// A click store that gives no answer makes analytics unavailable, and nothing else (D51).
fn unavailable(error: StoreError) -> AppError {
    match error {
        StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended => {
            AppError::AnalyticsUnavailable(error)
        }
        StoreError::Corrupt { .. } => AppError::Store(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r46_questions_take_half_of_the_cores_at_most_but_always_one() {
        let at_once = |cores| AnalyticsBounds::for_cores(cores, Duration::from_secs(1)).at_once;
        assert_eq!([0, 1, 2, 3, 4, 16].map(at_once), [1, 1, 1, 1, 2, 8]);
    }
}
