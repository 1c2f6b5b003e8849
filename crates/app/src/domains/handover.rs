//! How a hostname comes to an account that did not hold it (D41, D43).

use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, CustomDomainStatus, DomainEvent, Hostname, Refusal, Timestamp,
    VerificationRecord,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::ports::{LinksOf, StoreError, UnitOfWork, UpdateCustomDomainError};
use crate::unit_of_work::{Attempts, commit};

/// How many links lose their address in one step.
const AT_ONCE: u16 = 1_000;

/// How many steps one unit of work makes: with more it would hold up others for too long, or never end in its time.
const STEPS: u32 = 10;

/// How often a use case begins anew because another request was faster with the hostname.
pub(super) const ROUNDS: u32 = 5;

/// The plan of a domain that is checked no more.
pub(super) const NO_CHECKS: CheckPlan = CheckPlan { next_check_at: None, checks_made: 0 };

/// Whether a unit of work has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Losses {
    /// No link is left.
    Complete,
    /// There are more than go in one unit of work.
    SomeRemain,
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
}

impl Handover<'_> {
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

    /// Takes the hostname from others without giving it to the account, ten thousand links in a unit of work, until few
    /// enough are left to be lost together with the handover itself. In between it is nobody's and nothing resolves there,
    /// so no link that is lost here could have been seen again but by a new proof of the former holder. If somebody
    /// else has it by then, this ends, and the handover finds out.
    pub(super) async fn clear_the_way(&self) -> Result<(), AppError> {
        let Self { app, account, hostname, has_proof: _ } = *self;
        loop {
            let attempts = Attempts::at(app);
            let losses = attempts
                .run(|| async {
                    let mut work = attempts.begin().await?;
                    let claims = work.lock_claims(account, hostname).await?;
                    let now = app.clock.now();
                    let is_own = claims.own.is_some_and(|own| own.at(now).status.holds_hostname());
                    let holder = claims.holder.as_ref();
                    if is_own || !self.is_clear(holder, now) {
                        return Ok(Losses::Complete);
                    }
                    let losses = self.take_from_others(work.as_mut(), holder, now).await?;
                    commit(app, work).await?;
                    Ok::<_, AppError>(losses)
                })
                .await?;
            if losses == Losses::Complete {
                return Ok(());
            }
        }
    }
}
