//! Storing what the deadlines of domains have done.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::job::{Job, Progress};
use crate::app_error::AppError;
use crate::ports::{Clock, Store};

/// How many domains one step stores as failed.
const AT_ONCE: u16 = 500;

/// Stores domains as failed whose deadline has passed (D39). Readers see it at the very millisecond without this; it keeps the
/// store from remembering claims that are none.
pub struct ExpireDomains {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl ExpireDomains {
    /// The job, on this store and by this clock.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }
}

#[async_trait]
impl Job for ExpireDomains {
    fn name(&self) -> &'static str {
        "expire-domains"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(30)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let expired = self.store.expire_domains(self.clock.now(), AT_ONCE).await?;
        Ok(if expired < AT_ONCE { Progress::Done } else { Progress::More })
    }
}
