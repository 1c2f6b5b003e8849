//! Looking at the domains that are due for a check (D42).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use signpost_domain::{CheckPlan, CustomDomain, CustomDomainStatus, DnsObservation, Timestamp};

use super::job::{DoneBy, Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;
use crate::domains::{Findings, Losses, jitter, lose_links_before_service};
use crate::ports::{
    CLAIM_OF_A_CHECK, ConcludedCheck, DnsUnavailable, DueCheck, MAX_CLAIMS_OF_A_CHECK,
    UpdateCustomDomainError,
};
use crate::unit_of_work::{Attempts, commit};

const CHECKS: &str = "signpost_domain_checks_total";
const GIVEN_UP: &str = "signpost_domain_checks_given_up_total";

/// How many domains one step looks at, all at the same time.
const AT_ONCE: u16 = 64;

/// Asks DNS about the domains that are due, on every node, each domain by one of them at a time (D42).
///
/// A step claims some checks, asks about all of those domains at once, and writes what has changed one by one, each in a unit
/// of work; the domains that stay as they are it plans anew together. What DNS did not answer changes nothing but the time
/// of the next check. A check that panics, that cannot be written, or that is cut off stays claimed until its claim runs out,
/// and is left alone [for a day](crate::ports::CHECKS_LEFT_ALONE_FOR) after [five](MAX_CLAIMS_OF_A_CHECK) of those; the others
/// go on.
pub struct CheckDomains {
    app: Arc<Application>,
}

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The domain has another status than before.
    Changed,
    /// The domain has the status that it had.
    Unchanged,
    /// DNS gave no answer.
    Unanswered,
    /// It took longer than its claim lasts.
    Late,
    /// It could not be written, or could not be planned.
    Failed,
    /// It panicked.
    Panicked,
}

impl Outcome {
    const ALL: [Self; 6] =
        [Self::Changed, Self::Unchanged, Self::Unanswered, Self::Late, Self::Failed, Self::Panicked];

    /// The label of the metric.
    const fn label(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Unanswered => "unanswered",
            Self::Late => "late",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
        }
    }

    fn count(self, times: u64) {
        metrics::counter!(CHECKS, "outcome" => self.label()).increment(times);
    }

    /// Whether the check found an end, so that its claims are forgotten.
    const fn is_conclusion(self) -> bool {
        match self {
            Self::Changed | Self::Unchanged | Self::Unanswered => true,
            Self::Late | Self::Failed | Self::Panicked => false,
        }
    }

    /// Counts what became of a check, and tells of one that was tried for the last time.
    fn note(self, check: &DueCheck) {
        self.count(1);
        let DueCheck { domain, checks_made: _, claims } = check;
        if !self.is_conclusion() && *claims >= MAX_CLAIMS_OF_A_CHECK {
            let hostname = &domain.hostname;
            tracing::error!(%hostname, "the check of this domain was never concluded; it is left alone for a day");
            metrics::counter!(GIVEN_UP).increment(1);
        }
    }
}

/// The checks that change no status, why they do not, and what is written of them.
type Plans<'a> = Vec<((Outcome, &'a DueCheck), ConcludedCheck)>;

impl CheckDomains {
    /// The job, on this application.
    #[must_use]
    pub fn new(app: Arc<Application>) -> Self {
        metrics::describe_counter!(CHECKS, "Checks of custom domains by this node, by outcome.");
        for outcome in Outcome::ALL {
            outcome.count(0);
        }
        metrics::describe_counter!(
            GIVEN_UP,
            "Checks of custom domains that were never concluded, and are left alone for a day."
        );
        metrics::counter!(GIVEN_UP).increment(0);
        Self { app }
    }

    /// Concludes the check of a domain, of which DNS was asked. Gives the plan of the next one if nothing has changed.
    async fn conclude(
        &self,
        check: &DueCheck,
        looked: Result<Findings, DnsUnavailable>,
        claimed_until: Timestamp,
    ) -> Result<(Outcome, Option<ConcludedCheck>), AppError> {
        let DueCheck { domain, checks_made, claims: _ } = check;
        let stays = |outcome, plan: CheckPlan, observation: Option<DnsObservation>| {
            (outcome, Some(ConcludedCheck { id: domain.id, plan, observation }))
        };
        let now = self.app.clock.now();
        if now >= claimed_until {
            return Ok((Outcome::Late, None));
        }
        if is_overtaken(domain, now) {
            let next_check_at = Some(now.plus(CLAIM_OF_A_CHECK));
            let plan = CheckPlan { next_check_at, checks_made: *checks_made };
            return Ok(stays(Outcome::Unchanged, plan, None));
        }
        let plan = |status| self.plan_after(status, *checks_made, now);
        let findings = match looked {
            Ok(findings) => findings,
            Err(error) => {
                tracing::debug!(%error, hostname = %domain.hostname, "DNS gave no answer about a domain");
                return Ok(stays(Outcome::Unanswered, plan(domain.status)?, None));
            }
        };
        let after = findings.applied_to(domain, now);
        if after.status == domain.status {
            let observation = after.observation.filter(|_| findings.has_answers());
            return Ok(stays(Outcome::Unchanged, plan(domain.status)?, observation));
        }
        Ok((self.write(check, &findings).await?, None))
    }

    /// Writes what follows from the findings for the domain as it is by now. Whoever has changed it meanwhile has also planned
    /// its checks.
    async fn write(&self, check: &DueCheck, findings: &Findings) -> Result<Outcome, AppError> {
        let DueCheck { domain, checks_made, claims: _ } = check;
        let attempts = Attempts::at(&self.app);
        attempts
            .run(|| async {
                let mut work = attempts.begin().await?;
                let Some(before) = work.lock_custom_domain(domain.account_id, domain.id).await? else {
                    return Ok(Outcome::Unchanged);
                };
                let now = self.app.clock.now();
                let after = findings.applied_to(&before, now);
                if after.status == before.status || is_overtaken(&before, now) {
                    return Ok(Outcome::Unchanged);
                }
                let losses = lose_links_before_service(work.as_mut(), &before, &after, now).await?;
                let (after, plan) = match losses {
                    Losses::Complete => {
                        let plan = self.plan_after(after.status, *checks_made, now)?;
                        (after, plan)
                    }
                    // It waits for the next of these checks, which come soon and lose the rest.
                    Losses::SomeRemain => {
                        let soon = CheckPlan::first(now, jitter(&self.app)?);
                        let before = CustomDomain { observation: after.observation, ..before.clone() };
                        (before, CheckPlan { checks_made: *checks_made, ..soon })
                    }
                };
                match work.update_custom_domain(&after, plan).await {
                    Ok(()) => {}
                    // No check brings back what has failed, so the hostname was held all the time.
                    Err(UpdateCustomDomainError::HostnameTaken) => return Ok(Outcome::Failed),
                    Err(UpdateCustomDomainError::Store(error)) => return Err(error.into()),
                }
                commit(&self.app, work).await?;
                if after.status == before.status {
                    return Ok(Outcome::Unchanged);
                }
                let (hostname, from, to) = (&after.hostname, before.status.as_str(), after.status.as_str());
                tracing::info!(%hostname, from, to, "a check has changed a custom domain");
                Ok(Outcome::Changed)
            })
            .await
    }

    fn plan_after(
        &self,
        status: CustomDomainStatus,
        checks_made: u32,
        now: Timestamp,
    ) -> Result<CheckPlan, AppError> {
        Ok(CheckPlan::following(status, checks_made, now, jitter(&self.app)?))
    }

    /// Makes the checks, and gives the plans of those that changed nothing.
    async fn check_all<'a>(&self, due: &'a [DueCheck], claimed_until: Timestamp) -> Plans<'a> {
        let mut looking: FuturesUnordered<_> = due
            .iter()
            .map(|check| async move {
                let asked = Findings::ask(&self.app, &check.domain, self.app.clock.now());
                // What has panicked is never looked at again.
                (check, AssertUnwindSafe(asked).catch_unwind().await)
            })
            .collect();
        let mut plans = Plans::new();
        while let Some((check, looked)) = looking.next().await {
            let concluded = match looked {
                Ok(looked) => {
                    AssertUnwindSafe(self.conclude(check, looked, claimed_until)).catch_unwind().await
                }
                Err(panic) => Err(panic),
            };
            let hostname = &check.domain.hostname;
            match concluded {
                Ok(Ok((outcome, Some(concluded)))) => plans.push(((outcome, check), concluded)),
                Ok(Ok((outcome, None))) => outcome.note(check),
                Ok(Err(error)) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(%hostname, %error, cause, "a check of a custom domain was not concluded");
                    Outcome::Failed.note(check);
                }
                Err(_) => {
                    tracing::error!(%hostname, "a check of a custom domain panicked");
                    Outcome::Panicked.note(check);
                }
            }
        }
        plans
    }
}

/// Whether a deadline has passed at `now`. That is stored by [`MaintainDomains`](super::MaintainDomains), which heeds the
/// store's clock too: this node's may be ahead, and then nothing has passed yet.
fn is_overtaken(domain: &CustomDomain, now: Timestamp) -> bool {
    domain.status.at(now) != domain.status
}

#[async_trait]
impl Job for CheckDomains {
    fn name(&self) -> &'static str {
        "check-domains"
    }

    fn done_by(&self) -> DoneBy {
        DoneBy::EveryNode
    }

    fn period(&self) -> Duration {
        Duration::from_secs(2)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let now = self.app.clock.now();
        let claimed_until = now.plus(CLAIM_OF_A_CHECK);
        let due = self.app.store.claim_due_checks(now, claimed_until, AT_ONCE).await?;
        let (outcomes, plans): (Vec<_>, Vec<_>) =
            self.check_all(&due, claimed_until).await.into_iter().unzip();
        if !plans.is_empty() {
            let planned = self.app.store.plan_checks(claimed_until, &plans).await;
            for (outcome, check) in outcomes {
                if planned.is_ok() { outcome } else { Outcome::Failed }.note(check);
            }
            planned?;
        }
        Ok(if due.len() < usize::from(AT_ONCE) { Progress::Done } else { Progress::More })
    }
}
