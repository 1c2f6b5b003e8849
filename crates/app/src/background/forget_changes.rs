//! Forgetting old entries of the change log.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::job::{Job, Progress};
use crate::app_error::AppError;
use crate::changes::CHANGES_KEPT;
use crate::ports::Store;

/// How many entries one step forgets.
const AT_ONCE: u32 = 1_000;

/// Keeps the change log from growing for ever.
pub struct ForgetChanges {
    store: Arc<dyn Store>,
}

impl ForgetChanges {
    /// The job, on this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl Job for ForgetChanges {
    fn name(&self) -> &'static str {
        "forget-changes"
    }

    fn period(&self) -> Duration {
        Duration::from_mins(1)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let forgotten = self.store.forget_changes(CHANGES_KEPT, AT_ONCE).await?;
        Ok(if forgotten < u64::from(AT_ONCE) { Progress::Done } else { Progress::More })
    }
}
