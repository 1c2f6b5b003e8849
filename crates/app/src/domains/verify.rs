//! Checking a custom domain now (D39, D42).

use signpost_domain::id::DomainKind;
use signpost_domain::{
    CheckPlan, CustomDomain, CustomDomainStatus, DomainEvent, IdReference, Refusal, Timestamp,
};

use super::findings::Findings;
use super::handover::{Attempt, Handover, Losses, Obstacle, lose_links_before_service, taken, write};
use super::jitter::jitter;
use super::with_instructions::DomainWithInstructions;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Conclusion, Operation};
use crate::ports::{Claims, ScheduledDomain};

/// Asks DNS about the caller's domain, whatever the background is doing, and gives the domain as it is then. One that had
/// failed is pending anew first, if the hostname is still free (D39); links that others had there are lost as
/// [`connect`](super::connect) describes. What DNS said is stored with the domain, also if it changes nothing (D65); the plan of its
/// checks stays then. The account's plan need not have custom domains any more: only connecting takes the feature.
///
/// Whether the domain is the caller's, and whether another account holds the hostname, is said before DNS is asked.
///
/// # Errors
/// [`Refusal::DomainNotFound`] (D2); [`Refusal::HostnameTaken`] for a failed domain whose hostname another account
/// holds; [`Refusal::DomainProviderUnavailable`] if DNS gave no answer. Nothing has changed then, unless the domain was pending
/// anew and very many links of others were being lost when somebody else proved the hostname to be theirs.
pub async fn verify(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
    conclusion: Conclusion<'_, DomainWithInstructions>,
) -> Result<DomainWithInstructions, AppError> {
    let operation = Operation::new(app, caller, conclusion);
    let domain = operation.run(|| verifiable(app, caller, id)).await?;
    let findings = Findings::ask(app, &domain, app.clock.now()).await.map_err(|error| {
        tracing::info!(%error, hostname = %domain.hostname, "DNS gave no answer about a domain");
        Refusal::DomainProviderUnavailable
    })?;
    let verifying = Verifying { app, caller, domain: &domain, findings: &findings };
    verifying.handover().run(&operation, || verifying.attempt(&operation)).await
}

/// The caller's domain, as it is stored, if there is any point in asking DNS about it.
async fn verifiable(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
) -> Result<CustomDomain, AppError> {
    let account = caller.account_id();
    let id = id.id().ok_or(Refusal::DomainNotFound)?;
    let domain = app.store.custom_domain(account, id).await?.ok_or(Refusal::DomainNotFound)?.domain;
    if domain.at(app.clock.now()).status.holds_hostname() {
        return Ok(domain);
    }
    let holder = app.store.holder_of(&domain.hostname).await?.filter(|holder| holder.account_id != account);
    match Obstacle::of(holder.as_ref(), app.clock.now()) {
        Obstacle::None => Ok(domain),
        Obstacle::Claim | Obstacle::Proven => Err(taken(account, &domain.hostname).into()),
    }
}

struct Verifying<'a> {
    app: &'a Application,
    caller: &'a Caller,
    /// As it was before DNS was asked.
    domain: &'a CustomDomain,
    findings: &'a Findings,
}

impl Verifying<'_> {
    /// Nobody gives way to a verification: to outdo a claim, the hostname is connected again (D39).
    fn handover(&self) -> Handover<'_> {
        let Self { app, caller, domain, findings: _ } = *self;
        Handover {
            app,
            account: caller.account_id(),
            hostname: &domain.hostname,
            has_proof: false,
            reclaims: true,
        }
    }

    async fn attempt(
        &self,
        operation: &Operation<'_, DomainWithInstructions>,
    ) -> Result<Attempt<DomainWithInstructions>, AppError> {
        let Self { app, caller, domain, findings } = *self;
        let mut work = operation.begin().await?;
        let Claims { own, holder } = work.lock_claims(caller.account_id(), &domain.hostname).await?;
        let own = own.filter(|own| own.domain.id == domain.id).ok_or(Refusal::DomainNotFound)?;
        let ScheduledDomain { domain: own, schedule } = own;
        let now = app.clock.now();
        let (verified, losses) = if own.at(now).status.holds_hostname() {
            let verified = findings.applied_to(&own, now);
            let losses = lose_links_before_service(work.as_mut(), &own, &verified, now).await?;
            (verified, losses)
        } else {
            let handover = self.handover();
            if !handover.is_clear(holder.as_ref(), now) {
                return Err(taken(caller.account_id(), &domain.hostname).into());
            }
            let losses = handover.take_from_others(work.as_mut(), holder.as_ref(), now).await?;
            (findings.applied_to(&own.after(DomainEvent::Reclaimed, now), now), losses)
        };
        if losses == Losses::SomeRemain {
            return Ok(Attempt::LinksRemain);
        }
        let has_changed = verified.status != own.status;
        let verified = if has_changed {
            let checks = self.checks(verified.status, now)?;
            if !write(work.as_mut(), &verified, checks).await? {
                return Ok(Attempt::OvertakenByAnother);
            }
            ScheduledDomain::planned(verified, checks)
        } else {
            if let Some(observation) = verified.observation.as_ref().filter(|_| findings.has_answers()) {
                work.record_observation(own.account_id, own.id, observation).await?;
            }
            ScheduledDomain { domain: verified, schedule }
        };
        let verified = DomainWithInstructions::at(app, &verified, now);
        operation.conclude(Some(work), has_changed || findings.has_answers(), &verified).await?;
        Ok(Attempt::Ended(verified))
    }

    /// When a domain is checked whose status has changed to this one.
    fn checks(&self, status: CustomDomainStatus, now: Timestamp) -> Result<CheckPlan, AppError> {
        let jitter = jitter(self.app)?;
        Ok(match status {
            CustomDomainStatus::Pending { .. } => CheckPlan::first(now, jitter),
            CustomDomainStatus::SslPending { .. }
            | CustomDomainStatus::Active { .. }
            | CustomDomainStatus::Failed => CheckPlan::following(status, 0, now, jitter),
        })
    }
}
