//! Deleting clicks that are too old, and those of deleted accounts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use signpost_domain::AccountId;
use signpost_domain::analytics::{PlannedDeletion, UtcDay};

use super::{Job, Progress};
use crate::analytics::first_kept_day;
use crate::app_error::AppError;
use crate::application::Application;
use crate::ports::{OldClicks, Upkeep};

/// How many accounts one step looks at.
const ACCOUNTS_AT_ONCE: usize = 100;

const PERIOD: Duration = Duration::from_hours(1);

/// Deletes clicks that are older than the analytics period of their account's plan (D49), and those of deleted accounts.
///
/// It visits one account after another, and deletes some of one account's clicks in a step. Clicks that are too old are
/// [deleted a day after the decision](PlannedDeletion), by the store's clock.
pub struct ForgetClicks {
    app: Arc<Application>,
    round: Mutex<Round>,
}

/// One walk over the accounts.
#[derive(Debug, Default)]
struct Round {
    /// The beginning of the round. `None` between rounds.
    began: Option<Instant>,
    /// The beginning of the round before.
    earlier: Option<Instant>,
    /// The last account that is done.
    after: Option<AccountId>,
    /// What the round has planned to delete.
    planned: Planned,
    /// The number of accounts whose old clicks the round has deleted.
    deleted_of: u64,
}

/// The planned deletions of one round.
#[derive(Debug, Default, Clone, Copy)]
struct Planned {
    accounts: u64,
    clicks: u64,
    oldest: Option<UtcDay>,
    before: Option<UtcDay>,
}

impl Planned {
    fn add(&mut self, old: OldClicks, before: UtcDay) {
        self.accounts = self.accounts.saturating_add(1);
        self.clicks = self.clicks.saturating_add(old.clicks);
        self.oldest = Some(self.oldest.map_or(old.oldest, |oldest| oldest.min(old.oldest)));
        self.before = self.before.max(Some(before));
    }

    /// Tells operators what will be deleted, while they can still correct the clock, the setting or the plan.
    fn announce(self) {
        let Self { accounts, clicks, oldest: Some(oldest), before: Some(before) } = self else { return };
        let (oldest, before) = (oldest.first().to_string(), before.first().to_string());
        tracing::info!(
            accounts,
            clicks,
            oldest,
            before,
            "clicks are older than their plans keep them, or of no account: they will be deleted after {} hours",
            PlannedDeletion::WAIT.as_secs() / 3_600
        );
    }
}

impl Round {
    /// Begins a round unless one is under way. Returns for how long the node has been running since the round before, at most
    /// a [`PERIOD`], because a node that slept or was stopped did not run.
    fn begin(&mut self, now: Instant) -> Duration {
        let now = *self.began.get_or_insert(now);
        self.earlier.map_or(Duration::ZERO, |earlier| now.saturating_duration_since(earlier).min(PERIOD))
    }

    fn end(&mut self) {
        self.planned.announce();
        if self.deleted_of > 0 {
            tracing::info!(accounts = self.deleted_of, "old clicks were deleted as planned");
        }
        *self = Self { earlier: self.began, ..Self::default() };
    }
}

impl ForgetClicks {
    /// The job for this application.
    #[must_use]
    pub fn new(app: Arc<Application>) -> Self {
        Self { app, round: Mutex::default() }
    }

    /// Deletes some of one account's clicks if that is due. `ran` is the running time since the last look.
    async fn forget(&self, id: AccountId, today: UtcDay, ran: Duration) -> Result<Upkeep, AppError> {
        let store = &self.app.click_store;
        let account = self.app.store.account(id).await?;
        let first = match &account {
            // All of them. But the database may be an older copy, and the account may return with the right one.
            None => Some(UtcDay::LAST),
            // Without the plan, the operator may restore it tomorrow. The clicks could not be restored.
            Some(account) => self.app.plans.get(&account.plan).map(|plan| first_kept_day(plan.limits, today)),
        };
        let planned = store.planned_deletion(id).await?;
        let old = match first {
            Some(first) => store.old_clicks(id, first).await?.map(|old| (first, old)),
            None => None,
        };
        match (planned, old) {
            (None, None) => {}
            (Some(PlannedDeletion { before, .. }), None) => {
                let before = before.first().to_string();
                tracing::info!(account = %id, before, "cancelled a planned deletion of clicks: they are no longer too old");
                store.plan_deletion(id, None).await?;
            }
            (None, Some((before, old))) => {
                store.plan_deletion(id, Some(PlannedDeletion::new(before))).await?;
                self.round().planned.add(old, before);
            }
            (Some(planned), Some((first, old))) => {
                let reviewed = planned.reviewed(first, ran);
                if reviewed.waited.is_zero() {
                    // The round that planned it may have ended before its announcement.
                    self.round().planned.add(old, reviewed.before);
                }
                if !reviewed.is_due() {
                    store.plan_deletion(id, Some(reviewed)).await?;
                    return Ok(Upkeep::Done);
                }
                let before = account.map(|_| reviewed.before);
                if store.forget_clicks(id, before).await? == Upkeep::More {
                    // The next step looks again: the decision may shrink meanwhile.
                    store.plan_deletion(id, Some(reviewed)).await?;
                    return Ok(Upkeep::More);
                }
                store.plan_deletion(id, None).await?;
                self.round().deleted_of += 1;
            }
        }
        Ok(Upkeep::Done)
    }

    /// The lock cannot be poisoned: nothing panics while it is held.
    fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Job for ForgetClicks {
    fn name(&self) -> &'static str {
        "forget-clicks"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let today = self.app.click_store.today(self.app.clock.now()).await?;
        let first_of_any = self.app.plans.iter().map(|plan| first_kept_day(plan.limits, today)).max();
        let Some(first) = first_of_any else { return Ok(Progress::Done) };
        let (ran, after) = {
            let mut round = self.round();
            (round.begin(self.app.clock.instant()), round.after)
        };
        let click_store = &self.app.click_store;
        let accounts = click_store.accounts_with_clicks_before(first, after, ACCOUNTS_AT_ONCE).await?;
        for id in &accounts {
            if self.forget(*id, today, ran).await? == Upkeep::More {
                return Ok(Progress::More);
            }
            self.round().after = Some(*id);
        }
        if accounts.len() < ACCOUNTS_AT_ONCE {
            self.round().end();
            return Ok(Progress::Done);
        }
        Ok(Progress::More)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r22_only_time_between_rounds_counts_as_running_time() {
        let (start, minute) = (Instant::now(), Duration::from_mins(1));
        let mut round = Round::default();
        assert_eq!(round.begin(start), Duration::ZERO, "the node may have been stopped before");
        round.end();
        assert_eq!(round.begin(start + minute), minute);
        assert_eq!(round.begin(start + minute * 3), minute, "the same for all accounts of a round");
        round.end();
        assert_eq!(round.begin(start + minute * 4), minute * 3);
        round.end();
        assert_eq!(round.begin(start + PERIOD * 9), PERIOD, "a node that slept did not run");
    }
}
