//! Deleting remembered answers, entries of the change log, and clicks that are too old.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, PlanLimits};

use super::{Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;
use crate::changes::CHANGES_KEPT;
use crate::ports::{Clock, Store, Upkeep};

/// How many answers one step deletes.
const ANSWERS_AT_ONCE: u16 = 1_000;

/// Deletes remembered answers after their 24 hours (D12), so that they do not grow without bound.
pub struct ForgetAnswers {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl ForgetAnswers {
    /// The job for this store and clock.
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
        let forgotten = self.store.forget_answers(self.clock.now(), ANSWERS_AT_ONCE).await?;
        Ok(if forgotten < ANSWERS_AT_ONCE { Progress::Done } else { Progress::More })
    }
}

/// How many entries of the change log one step deletes.
const CHANGES_AT_ONCE: u32 = 1_000;

/// Deletes old entries of the change log, so that it does not grow without bound.
pub struct ForgetChanges {
    store: Arc<dyn Store>,
}

impl ForgetChanges {
    /// The job for this store.
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
        let forgotten = self.store.forget_changes(CHANGES_KEPT, CHANGES_AT_ONCE).await?;
        Ok(if forgotten < u64::from(CHANGES_AT_ONCE) { Progress::Done } else { Progress::More })
    }
}

/// How many accounts one step looks at.
const ACCOUNTS_AT_ONCE: usize = 100;

/// Deletes clicks that are older than the analytics period of their account's plan (D49), and those of deleted accounts.
///
/// It visits one account after another, and deletes some of one account's clicks in a step.
pub struct ForgetClicks {
    app: Arc<Application>,
    /// The last account that is done in this round.
    after: Mutex<Option<AccountId>>,
}

impl ForgetClicks {
    /// The job for this application.
    #[must_use]
    pub fn new(app: Arc<Application>) -> Self {
        Self { app, after: Mutex::default() }
    }

    /// The first day that an account with these limits can still ask about, in any time zone.
    fn first_day_of(&self, limits: PlanLimits) -> UtcDay {
        UtcDay::of(self.app.clock.now()).minus(limits.analytics_days.saturating_add(1))
    }

    /// The day before which some account may have clicks to delete.
    fn first_day_of_any(&self) -> Option<UtcDay> {
        self.app.plans.iter().map(|plan| self.first_day_of(plan.limits)).max()
    }

    /// Deletes some of one account's old clicks.
    async fn forget(&self, id: AccountId) -> Result<Upkeep, AppError> {
        let first = match self.app.store.account(id).await? {
            None => None,
            Some(account) => match self.app.plans.get(&account.plan) {
                Some(plan) => Some(self.first_day_of(plan.limits)),
                // The operator may restore the plan tomorrow. The clicks could not be restored.
                None => return Ok(Upkeep::Done),
            },
        };
        Ok(self.app.click_store.forget_clicks(id, first).await?)
    }

    /// The lock cannot be poisoned: nothing panics while it is held.
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
        let click_store = &self.app.click_store;
        let accounts = click_store.accounts_with_clicks_before(first, after, ACCOUNTS_AT_ONCE).await?;
        for id in &accounts {
            if self.forget(*id).await? == Upkeep::More {
                return Ok(Progress::More);
            }
            *self.after() = Some(*id);
        }
        if accounts.len() < ACCOUNTS_AT_ONCE {
            *self.after() = None;
            return Ok(Progress::Done);
        }
        Ok(Progress::More)
    }
}
