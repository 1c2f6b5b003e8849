//! Forgetting the answers that nobody may ask for again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::job::{Job, Progress};
use crate::app_error::AppError;
use crate::ports::{Clock, Store};

/// How many answers one step forgets.
const AT_ONCE: u16 = 1_000;

/// Keeps what is remembered of requests with a key from growing for ever (D12).
pub struct ForgetAnswers {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl ForgetAnswers {
    /// The job, on this store and by this clock.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }
}

#[async_trait]
impl Job for ForgetAnswers {
    fn name(&self) -> &'static str {
        "forget-answers"
    }

    fn period(&self) -> Duration {
        Duration::from_hours(1)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let forgotten = self.store.forget_answers(self.clock.now(), AT_ONCE).await?;
        Ok(if forgotten < AT_ONCE { Progress::Done } else { Progress::More })
    }
}
