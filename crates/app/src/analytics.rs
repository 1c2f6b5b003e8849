//! Questions about recorded clicks, and their export (D45 to D51, D66).

mod export;
mod export_permits;
mod links_asked;
mod questions;
mod turns;

use std::time::{Duration, Instant};

use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, PlanLimits};

pub use self::export::{
    AskedClicks, Export, check_export_of_account, check_export_of_link, export_of_account, export_of_link,
};
use self::export_permits::ExportPermits;
pub use self::links_asked::LinkChoice;
pub use self::questions::{Asked, clicks_of, of_account, of_link, recent_clicks};
use self::turns::Turns;
use crate::app_error::AppError;
use crate::ports::StoreError;

/// The bounds of analytics on this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalyticsBounds {
    /// How many exports may run at once, at least one. Each keeps a page of clicks in memory.
    pub exports: usize,
    /// The maximum number of links in a group or on a domain for questions about it. Their ids are in memory meanwhile.
    pub links: usize,
    /// How long a question may take, its wait included (D6, D51).
    pub time_limit: Duration,
}

impl Default for AnalyticsBounds {
    fn default() -> Self {
        Self { exports: 8, links: 1_000_000, time_limit: Duration::from_secs(5) }
    }
}

/// How many questions, and how many exports, at once may keep the ids of very many links in memory. A million ids take some
/// 30 MB.
const LARGE_SCOPES_AT_ONCE: usize = 2;

/// The state that the questions of all accounts on this node share.
#[derive(Debug)]
pub struct Analytics {
    /// For reports, and for pages of exports.
    turns: Turns<AccountId>,
    /// For lists with their recent clicks, which so never wait for the account's reports.
    list_turns: Turns<AccountId>,
    /// For questions that keep the ids of very many links in memory.
    large_scope_turns: Turns<()>,
    /// For exports that do, which take longer.
    large_export_turns: Turns<()>,
    exports: ExportPermits,
    max_links: usize,
    time_limit: Duration,
}

impl Analytics {
    /// Applies these bounds. No question runs yet.
    #[must_use]
    pub fn new(bounds: AnalyticsBounds) -> Self {
        let AnalyticsBounds { exports, links, time_limit } = bounds;
        Self {
            turns: Turns::new(1),
            list_turns: Turns::new(1),
            large_scope_turns: Turns::new(LARGE_SCOPES_AT_ONCE),
            large_export_turns: Turns::new(LARGE_SCOPES_AT_ONCE),
            exports: ExportPermits::new(exports),
            max_links: links,
            time_limit,
        }
    }

    /// The deadline of a question that arrives now, its wait for a turn included. A use case does not end its wait at the
    /// deadline. Its caller must drop it then, and report [`AppError::AnalyticsBusy`].
    #[must_use]
    pub fn deadline(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.time_limit).unwrap_or(now)
    }
}

/// The first day that an account with these limits can still ask about, in any time zone. Earlier clicks are deleted.
#[must_use]
pub fn first_kept_day(limits: PlanLimits, today: UtcDay) -> UtcDay {
    today.minus(limits.analytics_days.saturating_add(1))
}

/// Without an answer of the click store, only analytics is unavailable (D51).
fn unavailable(error: StoreError) -> AppError {
    match error {
        StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended => {
            AppError::AnalyticsUnavailable(error)
        }
        StoreError::Corrupt { .. } => AppError::Store(error),
    }
}
