//! The background checks of custom domains, and the upkeep of their states (D39, D42).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use signpost_domain::{CheckPlan, CustomDomain, CustomDomainStatus, DnsObservation, Timestamp};

use super::{DoneBy, Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;
use crate::certificates::want_for_proven;
use crate::domains::{Findings, LinksLeft, jitter, lose_links_before_service};
use crate::ports::{
    CLAIM_OF_A_CHECK, Clock, ConcludedCheck, DnsUnavailable, DueCheck, MAX_CLAIMS_OF_A_CHECK, Store,
    UpdateCustomDomainError,
};
use crate::unit_of_work::{Attempts, commit};

const CHECKS: &str = "signpost_domain_checks_total";
const GIVEN_UP: &str = "signpost_domain_checks_given_up_total";

/// How many domains one step checks, all at the same time.
const AT_ONCE: u16 = 64;

/// Asks DNS about the domains that are due. Every node does so, and claims keep two nodes from checking the same domain
/// (D42).
///
/// A step claims some checks and asks DNS about all their domains at once. It writes each domain whose status changed in a
/// unit of work of its own, and the new plans of all other domains together. Without an answer of DNS, only the time of the
/// next check changes.
///
/// A check that panics, cannot be written, or is dropped stays claimed until its claim ends. After
/// [five](MAX_CLAIMS_OF_A_CHECK) such claims the domain is not checked [for a day](crate::ports::CHECKS_LEFT_ALONE_FOR). The
/// other checks of the step go on.
pub struct CheckDomains {
    app: Arc<Application>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The status of the domain changed.
    Changed,
    /// The status of the domain stayed the same.
    Unchanged,
    /// DNS gave no answer.
    Unanswered,
    /// The check took longer than its claim.
    Late,
    /// The result or the next plan could not be written.
    Failed,
    /// The check panicked.
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

    /// Whether the check was concluded, so that its claims no longer count.
    const fn is_conclusion(self) -> bool {
        match self {
            Self::Changed | Self::Unchanged | Self::Unanswered => true,
            Self::Late | Self::Failed | Self::Panicked => false,
        }
    }

    /// Counts the outcome of a check, and logs an error if it was the last attempt.
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

/// The checks that change no status, with their outcomes and their new plans.
type Plans<'a> = Vec<((Outcome, &'a DueCheck), ConcludedCheck)>;

impl CheckDomains {
    /// The job for this application.
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

    /// Concludes a check after DNS was asked. Returns the plan of the next check if the status stays the same.
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

    /// Applies the findings to the domain as it is stored now, and writes it. If another request changed the domain
    /// meanwhile, that request planned its checks too.
    async fn write(&self, check: &DueCheck, findings: &Findings) -> Result<Outcome, AppError> {
        let DueCheck { domain, checks_made, claims: _ } = check;
        let attempts = Attempts::at(&self.app);
        attempts
            .run(|| async {
                let mut work = attempts.begin().await?;
                let Some(stored) = work.lock_custom_domain(domain.account_id, domain.id).await? else {
                    return Ok(Outcome::Unchanged);
                };
                let before = stored.domain;
                let now = self.app.clock.now();
                let after = findings.applied_to(&before, now);
                if after.status == before.status || is_overtaken(&before, now) {
                    return Ok(Outcome::Unchanged);
                }
                let left = lose_links_before_service(work.as_mut(), &before, &after, now).await?;
                let (after, plan) = match left {
                    LinksLeft::None => {
                        let plan = self.plan_after(after.status, *checks_made, now)?;
                        (after, plan)
                    }
                    // The status stays for now. The next checks come soon and remove the rest of the links.
                    LinksLeft::Some => {
                        let soon = CheckPlan::first(now, jitter(&self.app)?);
                        let before = CustomDomain { observation: after.observation, ..before.clone() };
                        (before, CheckPlan { checks_made: *checks_made, ..soon })
                    }
                };
                match work.update_custom_domain(&after, plan).await {
                    Ok(()) => {}
                    // Only a failed domain can meet a taken hostname, and no check revives a failed domain.
                    Err(UpdateCustomDomainError::HostnameTaken) => return Ok(Outcome::Failed),
                    Err(UpdateCustomDomainError::Store(error)) => return Err(error.into()),
                }
                want_for_proven(&self.app, work.as_mut(), &before, &after, now).await?;
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

    /// Runs the checks, and returns the plans of those that changed no status.
    async fn check_all<'a>(&self, due: &'a [DueCheck], claimed_until: Timestamp) -> Plans<'a> {
        let mut looking: FuturesUnordered<_> = due
            .iter()
            .map(|check| async move {
                let asked = Findings::ask(&self.app, &check.domain, self.app.clock.now());
                // A future that has panicked is never polled again.
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

/// Whether a deadline of the domain has passed at `now`. [`MaintainDomains`] stores that, because it also uses the store's
/// clock: if this node's clock is ahead, the deadline has not passed yet.
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

/// How many domains one step stores as failed, and for how many it releases the checks.
const MAINTAINED_AT_ONCE: u16 = 500;

/// Stores a domain as failed after its deadline has passed (D39), and releases abandoned checks
/// [a day later](crate::ports::CHECKS_LEFT_ALONE_FOR), so that no domain stays unchecked (D42).
///
/// Readers see the failure at the exact millisecond without this job. It only keeps expired claims out of the store.
pub struct MaintainDomains {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl MaintainDomains {
    /// The job for this store and clock.
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
        let expired = self.store.expire_domains(self.clock.now(), MAINTAINED_AT_ONCE).await?;
        let released = self.store.release_checks(self.clock.now(), MAINTAINED_AT_ONCE).await?;
        if released > 0 {
            tracing::warn!(released, "checks of custom domains that were never concluded are tried again");
        }
        Ok(if expired.max(released) < MAINTAINED_AT_ONCE { Progress::Done } else { Progress::More })
    }
}
