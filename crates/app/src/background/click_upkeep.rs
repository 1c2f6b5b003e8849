//! The upkeep of the click store: it packs, digests and seals clicks, and destroys visitor keys.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::analytics::UtcDay;

use super::{DoneBy, Job, Progress};
use crate::app_error::AppError;
use crate::ports::{ClickStore, Clock, Packed, Upkeep};

const OF_DELETED_ACCOUNTS: &str = "signpost_clicks_of_deleted_accounts_total";

/// How long after a day its visitor key is destroyed. Until then, nodes whose clocks are behind may need it.
const KEYS_KEPT_AFTER: Duration = Duration::from_mins(10);

/// A kind of upkeep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpkeepTask {
    /// Merges small segments into larger ones.
    Pack,
    /// Sums up days that have ended.
    Digest,
    /// Destroys the visitor hashes of days that get no more clicks.
    Seal,
    /// Destroys the visitor keys of past days (D48).
    ForgetVisitorKeys,
}

impl UpkeepTask {
    /// All tasks.
    pub const ALL: [Self; 4] = [Self::Pack, Self::Digest, Self::Seal, Self::ForgetVisitorKeys];
}

/// The job that does one task of the upkeep.
pub struct ClickUpkeep {
    task: UpkeepTask,
    clicks: Arc<dyn ClickStore>,
    clock: Arc<dyn Clock>,
}

impl ClickUpkeep {
    /// The job for this store and clock.
    #[must_use]
    pub fn new(task: UpkeepTask, clicks: Arc<dyn ClickStore>, clock: Arc<dyn Clock>) -> Self {
        metrics::describe_counter!(
            OF_DELETED_ACCOUNTS,
            "Clicks that arrived after their account was deleted, and were dropped."
        );
        Self { task, clicks, clock }
    }
}

#[async_trait]
impl Job for ClickUpkeep {
    fn name(&self) -> &'static str {
        match self.task {
            UpkeepTask::Pack => "pack-clicks",
            UpkeepTask::Digest => "digest-clicks",
            UpkeepTask::Seal => "seal-clicks",
            UpkeepTask::ForgetVisitorKeys => "forget-visitor-keys",
        }
    }

    fn done_by(&self) -> DoneBy {
        DoneBy::OneNode
    }

    fn period(&self) -> Duration {
        match self.task {
            // After a burst of clicks, questions about them would read many small batches.
            UpkeepTask::Pack => Duration::from_secs(1),
            UpkeepTask::Digest => Duration::from_mins(1),
            UpkeepTask::Seal | UpkeepTask::ForgetVisitorKeys => Duration::from_mins(5),
        }
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let now = self.clock.now();
        let upkeep = match self.task {
            UpkeepTask::Pack => {
                let Packed { upkeep, dropped } = self.clicks.pack(now).await?;
                if dropped > 0 {
                    metrics::counter!(OF_DELETED_ACCOUNTS).increment(dropped);
                    tracing::info!(clicks = dropped, "late clicks of deleted accounts were dropped");
                }
                upkeep
            }
            UpkeepTask::Digest => self.clicks.digest(now).await?,
            UpkeepTask::Seal => self.clicks.seal(now).await?,
            UpkeepTask::ForgetVisitorKeys => {
                self.clicks.forget_visitor_keys(UtcDay::of(now.minus(KEYS_KEPT_AFTER))).await?;
                Upkeep::Done
            }
        };
        Ok(upkeep.into())
    }
}

impl From<Upkeep> for Progress {
    fn from(upkeep: Upkeep) -> Self {
        match upkeep {
            Upkeep::More => Self::More,
            Upkeep::Done => Self::Done,
        }
    }
}
