//! Checking a custom domain now (D39, D42).

use std::time::Duration;

use signpost_domain::id::DomainKind;
use signpost_domain::{
    AuditAction, CertificateFailureReason, CertificateStatus, CustomDomain, DomainEvent, IdReference,
    Permission, Refusal, Timestamp,
};

use super::findings::Findings;
use super::handover::{
    Attempt, CompetingClaim, Handover, LinksLeft, checks_after, lose_links_before_service, taken, write,
};
use super::{DomainWithInstructions, domain_named};
use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::certificates::want_for_proven;
use crate::idempotency::{Idempotency, Operation};
use crate::ports::{CertificateSummary, Claims, ScheduledDomain};

/// Asks DNS about the caller's domain now, independent of background checks, and returns the updated domain.
///
/// A failed domain becomes pending again first, if the hostname is still free (D39). Other accounts' links there lose
/// their addresses as described at [`connect`](super::connect). The answer of DNS is stored with the domain (D65). If the
/// status stays the same, so does the plan of its checks. The account's plan need not include custom domains: only
/// connecting needs the feature.
///
/// A domain that is not the caller's, or whose hostname another account holds, is refused before DNS is asked.
///
/// # Errors
/// [`Refusal::DomainNotFound`] (D2); [`Refusal::HostnameTaken`] for a failed domain whose hostname another account
/// holds; [`Refusal::DomainProviderUnavailable`] if DNS gave no answer.
///
/// An error changes nothing, with one exception. While very many links lose their addresses for a domain that
/// has become pending again, another account can prove the hostname.
pub async fn verify(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
    idempotency: Idempotency<'_, DomainWithInstructions>,
) -> Result<DomainWithInstructions, AppError> {
    caller.require(Permission::WriteDomains)?;
    let operation = Operation::new(app, caller, idempotency);
    let domain = operation.run(|| verifiable(app, caller, id)).await?;
    let findings = Findings::ask(app, &domain, app.clock.now()).await.map_err(|error| {
        tracing::info!(%error, hostname = %domain.hostname, "DNS gave no answer about a domain");
        Refusal::DomainProviderUnavailable
    })?;
    let verifying = Verifying { app, caller, domain: &domain, findings: &findings };
    let verified = verifying.handover().run(&operation, || verifying.attempt(&operation)).await?;
    match verified.certificate.status {
        CertificateStatus::Ordering | CertificateStatus::Failing | CertificateStatus::Expired => {
            ask_for_certificate_early(app, &verified).await?;
        }
        CertificateStatus::None | CertificateStatus::Active | CertificateStatus::Renewing => {}
    }
    Ok(verified)
}

/// How long after an attempt its owner may ask for the next one (D190).
const BETWEEN_EARLY_ATTEMPTS: Duration = Duration::from_mins(10);

/// Makes the next attempt at a certificate due now, unless the last one was just made. It shows in the domain afterwards.
async fn ask_for_certificate_early(
    app: &Application,
    verified: &DomainWithInstructions,
) -> Result<(), AppError> {
    let now = app.clock.now();
    let is_recent = |last: Timestamp| now < last.plus(BETWEEN_EARLY_ATTEMPTS);
    let certificate = &verified.certificate;
    // A limit is not lifted by asking, and the authority has said when it wants to be asked.
    let is_limited = certificate
        .failure
        .as_ref()
        .is_some_and(|failure| failure.reason == CertificateFailureReason::RateLimited);
    if app.issuance.is_none() || is_limited || certificate.last_attempt_at.is_none_or(is_recent) {
        return Ok(());
    }
    app.store.hasten_certificate(&verified.domain.hostname, now).await?;
    Ok(())
}

/// The caller's stored domain, unless DNS could not change anything about it.
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
    match CompetingClaim::of(holder.as_ref(), app.clock.now()) {
        CompetingClaim::None => Ok(domain),
        CompetingClaim::Unproven | CompetingClaim::Proven => Err(taken(account, &domain.hostname).into()),
    }
}

struct Verifying<'a> {
    app: &'a Application,
    caller: &'a Caller,
    /// As it was stored before DNS was asked.
    domain: &'a CustomDomain,
    findings: &'a Findings,
}

impl Verifying<'_> {
    /// A verification displaces no claim. To do that, the caller connects the hostname again (D39).
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
        let ScheduledDomain { domain: own, schedule, certificate, files: _ } = own;
        let whole = work.lock_custom_domain(caller.account_id(), own.id).await?;
        let files = whole.and_then(|whole| whole.files);
        let now = app.clock.now();
        let (verified, left) = if own.at(now).status.holds_hostname() {
            let verified = findings.applied_to(&own, now);
            let left = lose_links_before_service(work.as_mut(), &own, &verified, now).await?;
            (verified, left)
        } else {
            let handover = self.handover();
            if !handover.is_clear(holder.as_ref(), now) {
                return Err(taken(caller.account_id(), &domain.hostname).into());
            }
            let left = handover.take_from_others(work.as_mut(), holder.as_ref(), now).await?;
            (findings.applied_to(&own.after(DomainEvent::Reclaimed, now), now), left)
        };
        if left == LinksLeft::Some {
            return Ok(Attempt::LinksRemain);
        }
        let has_changed = verified.status != own.status;
        let verified = if has_changed {
            let checks = checks_after(app, &verified, now)?;
            if !write(work.as_mut(), &verified, checks).await? {
                return Ok(Attempt::OvertakenByAnother);
            }
            want_for_proven(app, work.as_mut(), &own.at(now), &verified, now).await?;
            let object = format!("{}: {}", domain_named(&verified), verified.status.as_str());
            let deed = Deed::of(caller, AuditAction::DomainChecked, object);
            record(app, work.as_mut(), deed).await?;
            // As it is stored now: kept, wanted from now on, or gone.
            let has_one = app.issuance.is_some() && verified.status.may_have_certificate();
            let certificate = has_one.then(|| certificate.unwrap_or_else(|| CertificateSummary::wanted(now)));
            ScheduledDomain { certificate, files, ..ScheduledDomain::planned(verified, checks) }
        } else {
            if let Some(observation) = verified.observation.as_ref().filter(|_| findings.has_answers()) {
                work.record_observation(own.account_id, own.id, observation).await?;
            }
            ScheduledDomain { domain: verified, schedule, certificate, files }
        };
        let verified = DomainWithInstructions::at(app, &verified, now);
        operation.finish(Some(work), has_changed || findings.has_answers(), &verified).await?;
        Ok(Attempt::Ended(verified))
    }
}
