//! How an account gets a hostname that it did not hold (D41, D43).

use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, CustomDomainStatus, DomainEvent, Hostname, Refusal, Timestamp,
    VerificationRecord,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::idempotency::Operation;
use crate::ports::{Claims, LinksOf, RandomnessUnavailable, StoreError, UnitOfWork, UpdateCustomDomainError};
use crate::unit_of_work::{Attempts, commit};

/// How many links lose their addresses in one step.
const AT_ONCE: u16 = 1_000;

/// How many steps one unit of work makes. More would block others for too long, or exceed the store's time limit.
const STEPS: u32 = 10;

/// How often a handover starts over because another request took the hostname first.
const ROUNDS: u32 = 5;

/// The plan of a domain that is no longer checked.
pub(super) const NO_CHECKS: CheckPlan = CheckPlan { next_check_at: None, checks_made: 0 };

/// A random byte that spreads the checks of domains which were connected at the same time.
pub(crate) fn jitter(app: &Application) -> Result<u8, RandomnessUnavailable> {
    let mut bytes = [0; 1];
    app.randomness.fill(&mut bytes)?;
    let [byte] = bytes;
    Ok(byte)
}

/// The plan of the checks of a domain whose status has changed.
pub(crate) fn checks_after(
    app: &Application,
    domain: &CustomDomain,
    now: Timestamp,
) -> Result<CheckPlan, RandomnessUnavailable> {
    let jitter = jitter(app)?;
    Ok(match domain.status {
        CustomDomainStatus::Pending { .. } => CheckPlan::first(now, jitter),
        CustomDomainStatus::SslPending { .. }
        | CustomDomainStatus::Active { .. }
        | CustomDomainStatus::Failed => CheckPlan::following(domain.status, 0, now, jitter),
    })
}

/// Whether links still have an address on a hostname.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinksLeft {
    /// No link has one.
    None,
    /// Some have: there were more than one unit of work can take.
    Some,
}

/// The outcome of an attempt to hand a hostname over. Only `Ended` may have changed anything.
pub(super) enum Attempt<E> {
    /// Nothing is left to do.
    Ended(E),
    /// Other accounts have more links on the hostname than one unit of work can take. They must be gone first.
    LinksRemain,
    /// Another request took the hostname first.
    OvertakenByAnother,
}

/// Takes the address from the links on the hostname, up to ten thousand.
pub(super) async fn lose_links(
    work: &mut dyn UnitOfWork,
    whose: LinksOf,
    hostname: &Hostname,
    now: Timestamp,
) -> Result<LinksLeft, StoreError> {
    for _ in 0..STEPS {
        if work.lose_some_links(whose, hostname, AT_ONCE, now).await? < AT_ONCE {
            return Ok(LinksLeft::None);
        }
    }
    Ok(LinksLeft::Some)
}

/// Call this before a domain is stored with the status of `after`. If that status puts it into service, this
/// takes the address from the links that other accounts left on the hostname, up to ten thousand. The domain
/// may go into service only after the last of them. Such a link would occupy an address that the account's
/// own links need.
pub(crate) async fn lose_links_before_service(
    work: &mut dyn UnitOfWork,
    before: &CustomDomain,
    after: &CustomDomain,
    now: Timestamp,
) -> Result<LinksLeft, StoreError> {
    if before.status.serves_links() || !after.status.serves_links() {
        return Ok(LinksLeft::None);
    }
    lose_links(work, LinksOf::AllBut(after.account_id), &after.hostname, now).await
}

/// Writes a domain. `false` if another domain holds the hostname, and nothing was written.
pub(super) async fn write(
    work: &mut dyn UnitOfWork,
    domain: &CustomDomain,
    checks: CheckPlan,
) -> Result<bool, StoreError> {
    match work.update_custom_domain(domain, checks).await {
        Ok(()) => Ok(true),
        Err(UpdateCustomDomainError::HostnameTaken) => Ok(false),
        Err(UpdateCustomDomainError::Store(error)) => Err(error),
    }
}

/// Another account's claim on the hostname that the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompetingClaim {
    /// No claim: it was never made, or has failed by now.
    None,
    /// A claim without proof. A caller with proof displaces it.
    Unproven,
    /// A proven claim, which is never displaced.
    Proven,
}

impl CompetingClaim {
    /// The claim of another account's domain at `now`.
    pub(super) fn of(holder: Option<&CustomDomain>, now: Timestamp) -> Self {
        match holder.map(|holder| holder.at(now).status) {
            None | Some(CustomDomainStatus::Failed) => Self::None,
            Some(CustomDomainStatus::Pending { .. }) => Self::Unproven,
            Some(CustomDomainStatus::SslPending { .. } | CustomDomainStatus::Active { .. }) => Self::Proven,
        }
    }
}

/// Refuses a hostname that another account holds.
pub(super) fn taken(account: AccountId, hostname: &Hostname) -> Refusal {
    Refusal::HostnameTaken { record: Box::new(VerificationRecord::of(account, hostname)) }
}

/// The handover of a hostname to an account.
pub(super) struct Handover<'a> {
    pub(super) app: &'a Application,
    pub(super) account: AccountId,
    pub(super) hostname: &'a Hostname,
    /// Whether the account has proven the hostname, so that an unproven claim of another account fails.
    pub(super) has_proof: bool,
    /// Whether the account's failed claim becomes pending again before links of others lose their addresses.
    pub(super) reclaims: bool,
}

impl Handover<'_> {
    /// Makes attempts until one ends. If links of others are in the way, it [removes them](Self::empty) and tries again.
    /// If another request took the hostname first, it decides again, up to five times.
    ///
    /// # Errors
    /// Those of the attempt; [`Refusal::HostnameTaken`] after the last round, remembered as an attempt's refusal is (D12).
    pub(super) async fn run<T, E, F: Future<Output = Result<Attempt<E>, AppError>>>(
        &self,
        operation: &Operation<'_, T>,
        attempt: impl Fn() -> F,
    ) -> Result<E, AppError> {
        let mut overtaken = 0;
        while overtaken < ROUNDS {
            operation.renew();
            match operation.run(&attempt).await? {
                Attempt::Ended(end) => return Ok(end),
                Attempt::LinksRemain => self.empty().await?,
                Attempt::OvertakenByAnother => overtaken += 1,
            }
        }
        operation.run(|| async { Err(taken(self.account, self.hostname).into()) }).await
    }

    /// Whether the account may get the hostname at `now`.
    pub(super) fn is_clear(&self, holder: Option<&CustomDomain>, now: Timestamp) -> bool {
        match CompetingClaim::of(holder, now) {
            CompetingClaim::None => true,
            CompetingClaim::Unproven => self.has_proof,
            CompetingClaim::Proven => false,
        }
    }

    /// Stores the displaced holder as failed, and takes the address from the links that other accounts have on the
    /// hostname, up to ten thousand.
    pub(super) async fn take_from_others(
        &self,
        work: &mut dyn UnitOfWork,
        holder: Option<&CustomDomain>,
        now: Timestamp,
    ) -> Result<LinksLeft, StoreError> {
        if let Some(holder) = holder {
            // A claim whose deadline has passed is failed already; the event then changes nothing.
            write(work, &holder.after(DomainEvent::Displaced, now), NO_CHECKS).await?;
        }
        lose_links(work, LinksOf::AllBut(self.account), self.hostname, now).await
    }

    /// Takes the address from the links that other accounts have on the hostname, ten thousand in a unit of work. It stops
    /// when the account no longer holds the hostname, so that an account that gets it back keeps its remaining links.
    /// Visitors see none of this: a domain is not in service [until no such link is left](lose_links_before_service).
    pub(super) async fn empty(&self) -> Result<(), AppError> {
        while self.empty_some().await? == LinksLeft::Some {}
        Ok(())
    }

    async fn empty_some(&self) -> Result<LinksLeft, AppError> {
        let Self { app, account, hostname, has_proof: _, reclaims } = *self;
        let attempts = Attempts::at(app);
        attempts
            .run(|| async {
                let mut work = attempts.begin().await?;
                let Claims { own, holder } = work.lock_claims(account, hostname).await?;
                let now = app.clock.now();
                let Some(own) = own.map(|own| own.domain) else { return Ok(LinksLeft::None) };
                let is_held = own.at(now).status.holds_hostname();
                let may_take = is_held || (reclaims && self.is_clear(holder.as_ref(), now));
                if !may_take {
                    return Ok(LinksLeft::None);
                }
                let left = self.take_from_others(work.as_mut(), holder.as_ref(), now).await?;
                if !is_held {
                    let again = own.after(DomainEvent::Reclaimed, now);
                    if !write(work.as_mut(), &again, CheckPlan::first(now, jitter(app)?)).await? {
                        return Ok(LinksLeft::None);
                    }
                }
                commit(app, work).await?;
                Ok(left)
            })
            .await
    }
}
