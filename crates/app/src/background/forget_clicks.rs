//! Forgetting clicks that are older than their account's plan reaches back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, PlanLimits};

use super::job::{Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;
use crate::ports::Upkeep;

/// How many accounts one step looks at.
const AT_ONCE: usize = 100;

/// Deletes clicks that no question can reach any more (D49), and those of accounts that are gone.
///
/// It goes from account to account, and deletes some of one account's clicks in a step.
pub struct ForgetClicks {
    app: Arc<Application>,
    /// The account that it has come to.
    after: Mutex<Option<AccountId>>,
}

impl ForgetClicks {
    /// The job, on this application.
    #[must_use]
    pub fn new(app: Arc<Application>) -> Self {
        Self { app, after: Mutex::default() }
    }

    /// The first day of which an account on a plan with these limits can still ask, in any zone.
    fn first_day_of(&self, limits: PlanLimits) -> UtcDay {
        UtcDay::of(self.app.clock.now()).minus(limits.analytics_days.saturating_add(1))
    }

    /// The day before which some account may have clicks to be forgotten.
    fn first_day_of_any(&self) -> Option<UtcDay> {
        self.app.plans.iter().map(|plan| self.first_day_of(plan.limits)).max()
    }

    /// Forgets what is too old of one account's clicks.
    async fn forget(&self, id: AccountId) -> Result<Upkeep, AppError> {
        let first = match self.app.store.account(id).await? {
            None => None,
            Some(account) => match self.app.plans.get(&account.plan) {
                Some(plan) => Some(self.first_day_of(plan.limits)),
                // The operator's file of plans may be back tomorrow; the clicks would not.
                None => return Ok(Upkeep::Done),
            },
        };
        Ok(self.app.click_store.forget_clicks(id, first).await?)
    }

    /// Nothing panics between the locks.
    fn after(&self) -> MutexGuard<'_, Option<AccountId>> {
        self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Job for ForgetClicks {
    fn name(&self) -> &'static str {
        "forget-clicks"
    }

    fn period(&self) -> Duration {
        Duration::from_hours(1)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let Some(first) = self.first_day_of_any() else { return Ok(Progress::Done) };
        let after = *self.after();
        let accounts = self.app.click_store.accounts_with_clicks_before(first, after, AT_ONCE).await?;
        for id in &accounts {
            if self.forget(*id).await? == Upkeep::More {
                return Ok(Progress::More);
            }
            *self.after() = Some(*id);
        }
        if accounts.len() < AT_ONCE {
            *self.after() = None;
            return Ok(Progress::Done);
        }
        Ok(Progress::More)
    }
}
