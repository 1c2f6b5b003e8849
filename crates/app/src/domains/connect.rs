//! Connecting a hostname (D37, D40, D41).

use signpost_domain::{
    AuditAction, CheckPlan, CustomDomain, DomainEvent, DomainFiles, Feature, Hostname, Permission,
    PlanResource, Refusal, Timestamp, VerificationRecord,
};

use super::findings::{self, Proof};
use super::handover::{Attempt, CompetingClaim, Handover, LinksLeft, taken, write};
use super::{DomainWithInstructions, domain_named, jitter};
use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::ports::{Claims, InsertCustomDomainError, ScheduledDomain, UnitOfWork};

/// A domain that this request or an earlier one connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// The domain.
    pub domain: DomainWithInstructions,
    /// Whether this request created it. Otherwise the account had it already (D40).
    pub is_new: bool,
}

/// Connects a hostname.
///
/// - A domain that the account holds stays unchanged, and the plan need not include custom domains. A failed domain becomes
///   pending again, with a new deadline (D40).
/// - A free hostname becomes the account's without a DNS query.
/// - A hostname that another account only claims becomes the caller's if DNS has the caller's `TXT` record. The other claim
///   then fails (D41).
///
/// Other accounts' links on the hostname lose their addresses in the same unit of work, up to ten thousand. The rest
/// follow in further units of work, or later. Nothing resolves there until the domain is active, and it becomes active
/// only after the last of them.
///
/// # Errors
/// Those of [`HostnameRules::check`](signpost_domain::HostnameRules::check); [`Refusal::FeatureNotAvailable`];
/// [`Refusal::DomainsNotOffered`]; [`Refusal::HostnameTaken`]; [`Refusal::DomainProviderUnavailable`] if DNS did not say
/// whether the record exists; [`Refusal::PlanLimitReached`]. Nothing changes on an error.
pub async fn connect(
    app: &Application,
    caller: &Caller,
    hostname: &str,
    idempotency: Idempotency<'_, Connected>,
) -> Result<Connected, AppError> {
    caller.require(Permission::WriteDomains)?;
    let hostname = app.hostname_rules.check(hostname)?;
    let record = VerificationRecord::of(caller.account_id(), &hostname);
    let operation = Operation::new(app, caller, idempotency);
    let mut proof = None;
    loop {
        let connecting = Connecting { app, caller, hostname: &hostname, proof: proof.as_ref() };
        let handover = connecting.handover();
        match handover.run(&operation, || connecting.attempt(&operation)).await? {
            End::Connected(connected, left) => {
                if left == LinksLeft::Some {
                    // The caller has the hostname even if this fails: going into service removes the rest.
                    handover.empty().await.unwrap_or_else(|error| {
                        tracing::warn!(%error, %hostname, "links of former holders are still on a hostname");
                    });
                }
                return Ok(*connected);
            }
            End::ProofWanted => proof = Some(ask_for_proof(app, &record).await?),
        }
    }
}

async fn ask_for_proof(app: &Application, record: &VerificationRecord) -> Result<Proof, AppError> {
    findings::ask_for_proof(app, record).await.map_err(|error| {
        tracing::info!(%error, name = record.name(), "DNS did not say whether a hostname is a caller's");
        Refusal::DomainProviderUnavailable.into()
    })
}

/// How an attempt ends. Only the first end changes anything.
enum End {
    /// The caller has the hostname. Other accounts may still have links there.
    Connected(Box<Connected>, LinksLeft),
    /// Another account claims the hostname, and DNS was not asked for the caller's proof yet.
    ProofWanted,
}

struct Connecting<'a> {
    app: &'a Application,
    caller: &'a Caller,
    hostname: &'a Hostname,
    /// The answer of DNS about the caller's record, if it was asked.
    proof: Option<&'a Proof>,
}

impl Connecting<'_> {
    fn handover(&self) -> Handover<'_> {
        let Self { app, caller, hostname, proof } = *self;
        Handover {
            app,
            account: caller.account_id(),
            hostname,
            has_proof: proof.is_some_and(|proof| proof.is_there),
            reclaims: false,
        }
    }

    async fn attempt(&self, operation: &Operation<'_, Connected>) -> Result<Attempt<End>, AppError> {
        let mut work = operation.begin().await?;
        let Claims { own, holder } = work.lock_claims(self.caller.account_id(), self.hostname).await?;
        let now = self.app.clock.now();
        // Locked already; this also reads its files.
        let own = match own {
            Some(own) => work.lock_custom_domain(self.caller.account_id(), own.domain.id).await?,
            None => None,
        };
        if let Some(own) = own.as_ref().filter(|own| own.domain.at(now).status.holds_hostname()) {
            let connected = self.connected(own, now, false);
            operation.finish(Some(work), false, &connected).await?;
            return Ok(Attempt::Ended(End::Connected(Box::new(connected), LinksLeft::None)));
        }
        if !self.caller.plan().features.contains(Feature::CustomDomains) {
            return Err(Refusal::FeatureNotAvailable(Feature::CustomDomains).into());
        }
        if !self.app.edge.can_be_pointed_at() {
            return Err(Refusal::DomainsNotOffered.into());
        }
        let competing = CompetingClaim::of(holder.as_ref(), now);
        if competing == CompetingClaim::Unproven && self.proof.is_none() {
            return Ok(Attempt::Ended(End::ProofWanted));
        }
        let handover = self.handover();
        if !handover.is_clear(holder.as_ref(), now) {
            return Err(taken(self.caller.account_id(), self.hostname).into());
        }
        if own.is_none() && self.caller.usage().domains >= self.limit() {
            // The store decides this too, but only after up to ten thousand links have lost their addresses.
            return Err(self.limit_reached());
        }
        let left = handover.take_from_others(work.as_mut(), holder.as_ref(), now).await?;
        let Some(connected) = self.take(work.as_mut(), own, now).await? else {
            return Ok(Attempt::OvertakenByAnother);
        };
        let object = domain_named(&connected.domain.domain);
        let deed = Deed::of(self.caller, AuditAction::DomainConnected, object);
        record(self.app, work.as_mut(), deed).await?;
        operation.finish(Some(work), true, &connected).await?;
        Ok(Attempt::Ended(End::Connected(Box::new(connected), left)))
    }

    /// Gives the caller a free hostname. `None` if it is no longer free.
    async fn take(
        &self,
        work: &mut dyn UnitOfWork,
        own: Option<ScheduledDomain>,
        now: Timestamp,
    ) -> Result<Option<Connected>, AppError> {
        let checks = CheckPlan::first(now, jitter(self.app)?);
        if let Some(ScheduledDomain { domain: own, files, .. }) = own {
            let again = self.with_proof(own.after(DomainEvent::Reclaimed, now), now);
            let is_written = write(work, &again, checks).await?;
            let again = ScheduledDomain { files, ..ScheduledDomain::planned(again, checks) };
            return Ok(is_written.then(|| self.connected(&again, now, false)));
        }
        let account = self.caller.account_id();
        let domain = CustomDomain::connect(self.app.ids.next(), account, self.hostname.clone(), now);
        let domain = self.with_proof(domain, now);
        match work.insert_custom_domain(&domain, checks, self.limit()).await {
            Ok(()) => {
                let files = Some(DomainFiles::default());
                let domain = ScheduledDomain { files, ..ScheduledDomain::planned(domain, checks) };
                Ok(Some(self.connected(&domain, now, true)))
            }
            Err(InsertCustomDomainError::HostnameTaken) => Ok(None),
            Err(InsertCustomDomainError::Resource(error)) => {
                Err(AppError::not_inserted(error, PlanResource::Domains, self.limit()))
            }
        }
    }

    /// The domain with what DNS has in place of its `TXT` record, if DNS was asked (D65).
    fn with_proof(&self, domain: CustomDomain, now: Timestamp) -> CustomDomain {
        match self.proof {
            Some(Proof { seen, .. }) => domain.seen(std::slice::from_ref(seen), now),
            None => domain,
        }
    }

    fn limit(&self) -> u64 {
        self.caller.plan().limits.of(PlanResource::Domains)
    }

    fn limit_reached(&self) -> AppError {
        Refusal::PlanLimitReached { resource: PlanResource::Domains, limit: self.limit() }.into()
    }

    fn connected(&self, domain: &ScheduledDomain, now: Timestamp, is_new: bool) -> Connected {
        Connected { domain: DomainWithInstructions::at(self.app, domain, now), is_new }
    }
}
