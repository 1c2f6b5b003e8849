//! How a hostname comes to an account that did not hold it (D41, D43).

use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, CustomDomainStatus, DomainEvent, Hostname, Refusal, Timestamp,
    VerificationRecord,
};

use super::jitter::jitter;
use crate::app_error::AppError;
use crate::application::Application;
use crate::idempotency::Operation;
use crate::ports::{Claims, LinksOf, StoreError, UnitOfWork, UpdateCustomDomainError};
use crate::unit_of_work::{Attempts, commit};

/// How many links lose their address in one step.
const AT_ONCE: u16 = 1_000;

/// How many steps one unit of work makes: with more it would hold up others for too long, or never end in its time.
const STEPS: u32 = 10;

/// How often a handover begins anew because another request was faster with the hostname.
const ROUNDS: u32 = 5;

/// The plan of a domain that is checked no more.
pub(super) const NO_CHECKS: CheckPlan = CheckPlan { next_check_at: None, checks_made: 0 };

/// Whether a unit of work has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Losses {
    /// No link is left.
    Complete,
    /// There are more than go in one unit of work.
    SomeRemain,
}

/// What became of an attempt to hand a hostname over, which ended with an `E` or changed nothing.
pub(super) enum Attempt<E> {
    /// There is nothing more to do.
    Ended(E),
    /// Other accounts have more links on the hostname than one unit of work can take, and they must be gone before.
    LinksRemain,
    /// Another request has taken the hostname meanwhile.
    OvertakenByAnother,
}

/// Takes their address from the links on the hostname, up to ten thousand.
pub(super) async fn lose_links(
    work: &mut dyn UnitOfWork,
    whose: LinksOf,
    hostname: &Hostname,
    now: Timestamp,
) -> Result<Losses, StoreError> {
    for _ in 0..STEPS {
        if work.lose_some_links(whose, hostname, AT_ONCE, now).await? < AT_ONCE {
            return Ok(Losses::Complete);
        }
    }
    Ok(Losses::SomeRemain)
}

/// Before a domain whose account holds the hostname is stored with the status of `after`: if that puts it into service, takes
/// their address from the links that other accounts have left there, up to ten thousand. Only once none remains it may go into
/// service: a link of its own could not have the address of one of those.
pub(crate) async fn lose_links_before_service(
    work: &mut dyn UnitOfWork,
    before: &CustomDomain,
    after: &CustomDomain,
    now: Timestamp,
) -> Result<Losses, StoreError> {
    if before.status.serves_links() || !after.status.serves_links() {
        return Ok(Losses::Complete);
    }
    lose_links(work, LinksOf::AllBut(after.account_id), &after.hostname, now).await
}

/// Whether the status was written; not if another domain holds the hostname.
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

/// What another account's claim is to a caller who wants the hostname.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// There is none any more, whatever is stored.
    None,
    /// A mere claim, which proof outdoes.
    Claim,
    /// It is proven, and never displaced.
    Proven,
}

impl Obstacle {
    /// What the domain, which another account has, is at `now`.
    pub(super) fn of(holder: Option<&CustomDomain>, now: Timestamp) -> Self {
        match holder.map(|holder| holder.at(now).status) {
            None | Some(CustomDomainStatus::Failed) => Self::None,
            Some(CustomDomainStatus::Pending { .. }) => Self::Claim,
            Some(CustomDomainStatus::SslPending { .. } | CustomDomainStatus::Active { .. }) => Self::Proven,
        }
    }
}

/// The refusal of a hostname that another account holds.
pub(super) fn taken(account: AccountId, hostname: &Hostname) -> Refusal {
    Refusal::HostnameTaken { record: Box::new(VerificationRecord::of(account, hostname)) }
}

/// A hostname on its way to an account.
pub(super) struct Handover<'a> {
    pub(super) app: &'a Application,
    pub(super) account: AccountId,
    pub(super) hostname: &'a Hostname,
    /// Whether the account has shown that the hostname is its own, so that a mere claim of another gives way.
    pub(super) has_proof: bool,
    /// Whether a failed claim of the account is made pending anew before links of others are lost for it.
    pub(super) reclaims: bool,
}

impl Handover<'_> {
    /// Makes attempts until one ends: where links of others are in the way [they are lost first](Self::empty), and where another
    /// request was faster with the hostname all is decided anew. Where that happens again and again, somebody else has it for good.
    ///
    /// # Errors
    /// What an attempt fails with; [`Refusal::HostnameTaken`] in the end, which is remembered as that of an attempt is (D12).
    pub(super) async fn run<T, E, F: Future<Output = Result<Attempt<E>, AppError>>>(
        &self,
        operation: &Operation<'_, T>,
        attempt: impl Fn() -> F,
    ) -> Result<E, AppError> {
        for _ in 0..ROUNDS {
            loop {
                operation.renew();
                match operation.run(&attempt).await? {
                    Attempt::Ended(end) => return Ok(end),
                    Attempt::LinksRemain => self.empty().await?,
                    Attempt::OvertakenByAnother => break,
                }
            }
        }
        operation.run(|| async { Err(taken(self.account, self.hostname).into()) }).await
    }

    /// Whether the hostname may come to the account at `now`.
    pub(super) fn is_clear(&self, holder: Option<&CustomDomain>, now: Timestamp) -> bool {
        match Obstacle::of(holder, now) {
            Obstacle::None => true,
            Obstacle::Claim => self.has_proof,
            Obstacle::Proven => false,
        }
    }

    /// Stores the former holder, which gives way, as failed, and takes their address from the links that other accounts
    /// have on the hostname, up to ten thousand.
    pub(super) async fn take_from_others(
        &self,
        work: &mut dyn UnitOfWork,
        holder: Option<&CustomDomain>,
        now: Timestamp,
    ) -> Result<Losses, StoreError> {
        if let Some(holder) = holder {
            // A claim that its deadline has ended is failed before that.
            write(work, &holder.after(DomainEvent::Displaced, now), NO_CHECKS).await?;
        }
        lose_links(work, LinksOf::AllBut(self.account), self.hostname, now).await
    }

    /// Takes their address from the links that other accounts have on the hostname, ten thousand in a unit of work, for as long
    /// as the account holds it, and no longer: whoever gets it back meanwhile keeps what is left of theirs. Nobody sees
    /// anything of this, since a domain is not in service [before all of them are lost](lose_links_before_service).
    pub(super) async fn empty(&self) -> Result<(), AppError> {
        while self.empty_some().await? == Losses::SomeRemain {}
        Ok(())
    }

    async fn empty_some(&self) -> Result<Losses, AppError> {
        let Self { app, account, hostname, has_proof: _, reclaims } = *self;
        let attempts = Attempts::at(app);
        attempts
            .run(|| async {
                let mut work = attempts.begin().await?;
                let Claims { own, holder } = work.lock_claims(account, hostname).await?;
                let now = app.clock.now();
                let Some(own) = own.map(|own| own.domain) else { return Ok(Losses::Complete) };
                let is_held = own.at(now).status.holds_hostname();
                let may_take = is_held || (reclaims && self.is_clear(holder.as_ref(), now));
                if !may_take {
                    return Ok(Losses::Complete);
                }
                let losses = self.take_from_others(work.as_mut(), holder.as_ref(), now).await?;
                if !is_held {
                    let again = own.after(DomainEvent::Reclaimed, now);
                    if !write(work.as_mut(), &again, CheckPlan::first(now, jitter(app)?)).await? {
                        return Ok(Losses::Complete);
                    }
                }
                commit(app, work).await?;
                Ok(losses)
            })
            .await
    }
}
