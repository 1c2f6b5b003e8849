//! Storing what time has done to domains and their checks.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::job::{Job, Progress};
use crate::app_error::AppError;
use crate::ports::{Clock, Store};

/// How many domains one step stores as failed, and of how many it releases the checks.
const AT_ONCE: u16 = 500;

/// Stores domains as failed whose deadline has passed (D39). Readers see it at the very millisecond without this; it keeps the
/// store from remembering claims that are none. And makes due again the checks that were given up
/// [long enough](crate::ports::CHECKS_LEFT_ALONE_FOR) ago, so that no domain goes unchecked for ever (D42).
pub struct MaintainDomains {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl MaintainDomains {
    /// The job, on this store and by this clock.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }
}

#[async_trait]
impl Job for MaintainDomains {
    fn name(&self) -> &'static str {
        "maintain-domains"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(30)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let expired = self.store.expire_domains(self.clock.now(), AT_ONCE).await?;
        let released = self.store.release_checks(self.clock.now(), AT_ONCE).await?;
        if released > 0 {
            tracing::warn!(released, "checks of custom domains that were never concluded are tried again");
        }
        Ok(if expired.max(released) < AT_ONCE { Progress::Done } else { Progress::More })
    }
}
