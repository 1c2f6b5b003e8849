//! Custom domains in the store.

use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, DnsObservation, DomainId, Hostname, Page, PageLimit, PagePosition,
    Timestamp,
};

use super::domain_schedule::ScheduledDomain;
use super::store_error::StoreError;

/// Reading custom domains. All give the states as they are stored; what they read as at an instant is
/// [`CustomDomain::at`].
#[async_trait]
pub trait CustomDomainReads: Send + Sync {
    /// The account's domain with this id.
    async fn custom_domain(
        &self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError>;

    /// One page of the account's domains, in whatever state, newest (highest id) first, beginning behind `after`. Its
    /// cost must not grow with its depth.
    async fn custom_domains(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<ScheduledDomain>, StoreError>;

    /// Those of the account's domains that have one of these hostnames (as many as a
    /// [`Batch`](signpost_domain::Batch) has), in any order.
    async fn custom_domains_named(
        &self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError>;

    /// The domain of any account that is stored with this hostname and not as failed: there is one at most.
    async fn holder_of(&self, hostname: &Hostname) -> Result<Option<CustomDomain>, StoreError>;
}

/// What stands in the way of a hostname: the caller's own domain of that name, and the one that holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// The account's own domain with the hostname, in whatever state.
    pub own: Option<ScheduledDomain>,
    /// Another account's domain with the hostname that is not stored as failed.
    pub holder: Option<CustomDomain>,
}

/// Why a domain was not inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertCustomDomainError {
    /// A decision: the account has as many domains as its plan allows.
    #[error("the limit on domains is reached")]
    LimitReached,
    /// A decision: a domain that is not stored as failed has the hostname, or any domain of the same account has.
    #[error("the hostname is taken")]
    HostnameTaken,
    /// A decision: the account was deleted after the request was let in.
    #[error("no such account")]
    AccountMissing,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a domain was not updated.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCustomDomainError {
    /// A decision: it was stored as failed and would not be any more, but another domain holds the hostname.
    #[error("the hostname is taken")]
    HostnameTaken,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whose links lose their address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinksOf {
    /// Those of one account.
    Account(AccountId),
    /// Those of every account but one.
    AllBut(AccountId),
}

/// Changing custom domains, within a unit of work.
#[async_trait]
pub trait CustomDomainWrites: Send {
    /// The account's domain with this id, held against other units of work until this one ends.
    async fn lock_custom_domain(
        &mut self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<CustomDomain>, StoreError>;

    /// What stands in the way of the account's having `hostname`. Every domain of that name, those of other accounts
    /// that are stored as failed too, is held against other units of work until this one ends.
    async fn lock_claims(&mut self, account: AccountId, hostname: &Hostname) -> Result<Claims, StoreError>;

    /// Those of the account's domains that have one of these hostnames (as many as a
    /// [`Batch`](signpost_domain::Batch) has), in any order. Until this unit of work ends, none of them can be deleted
    /// and none of the hostnames can pass to another account, so that a link can be placed there.
    async fn hold_custom_domains(
        &mut self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError>;

    /// Inserts a domain and moves the account's count of domains, which never passes `domains_limit`. Where several
    /// decisions apply, it reports the limit first. An id that any account has already is no decision but a failure.
    async fn insert_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
        domains_limit: u64,
    ) -> Result<(), InsertCustomDomainError>;

    /// Writes the status, the reason of a failure and the observation of a domain that [`lock_custom_domain`](Self::lock_custom_domain) or
    /// [`lock_claims`](Self::lock_claims) gave in this unit of work, and when it is to be checked: as if no check of it had been
    /// claimed. Its id, account, hostname and creation stay as they are.
    async fn update_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
    ) -> Result<(), UpdateCustomDomainError>;

    /// Writes what look-ups saw of a domain that [`lock_claims`](Self::lock_claims) gave in this unit of work, and nothing else:
    /// the plan of its checks stays, and whoever has claimed one keeps it. It is no change of which others are told.
    async fn record_observation(
        &mut self,
        account: AccountId,
        id: DomainId,
        observation: &DnsObservation,
    ) -> Result<(), StoreError>;

    /// Deletes a domain and moves the account's count of domains. Links that are still placed there stay as they are.
    /// `false` if the account has no such domain.
    async fn delete_custom_domain(&mut self, account: AccountId, id: DomainId) -> Result<bool, StoreError>;

    /// Takes the address from some of the links on a hostname, at most `at_most`; they keep their slug (D22), with `now`
    /// as their `updated_at` (never an earlier one than they have). Returns how many, which is fewer than
    /// `at_most` only if none is left. Its cost is bounded by `at_most`.
    async fn lose_some_links(
        &mut self,
        whose: LinksOf,
        hostname: &Hostname,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError>;
}

/// How often a check is claimed without being concluded before its domain is left alone: whatever fails so often would
/// fail again.
pub const MAX_CLAIMS_OF_A_CHECK: u32 = 5;

/// For how long a domain is left alone whose check was never concluded. What was wrong may have been mended by then.
pub const CHECKS_LEFT_ALONE_FOR: Duration = Duration::from_hours(24);

/// A domain that is to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueCheck {
    /// As it is stored.
    pub domain: CustomDomain,
    /// How many checks of it were concluded since its plan was begun.
    pub checks_made: u32,
    /// How often this check was claimed, this time included. At [`MAX_CLAIMS_OF_A_CHECK`] it is the last time for long.
    pub claims: u32,
}

/// A check that changed no status: its plan, and what it saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcludedCheck {
    /// The domain.
    pub id: DomainId,
    /// When it is checked again.
    pub plan: CheckPlan,
    /// What look-ups have seen of it by now; `None` if this one was not answered, which leaves what is stored.
    pub observation: Option<DnsObservation>,
}

/// Finding the domains that are to be checked, and keeping their plans (D42). Each method is a unit of work by itself.
#[async_trait]
pub trait DomainChecks: Send + Sync {
    /// Claims the checks of at most `at_most` domains that are due at `now`, those that have been due for longest first. A
    /// claimed one is not due again before `until`, unless its plan is written anew: so of any number of claimants at
    /// once one gets it, and if that one dies, another gets it then. One that has been claimed
    /// [`MAX_CLAIMS_OF_A_CHECK`] times since its plan was last written is not due any more, until its checks are
    /// [released](Self::release_checks). Where nothing is due, it costs one read.
    ///
    /// A row that is not what it must be is claimed like the others, reported in the log, and left out: it keeps nobody
    /// else's check from being made.
    async fn claim_due_checks(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<DueCheck>, StoreError>;

    /// Writes the plans of domains whose check changed no status, and what it saw: as if no check of them had been claimed. They were claimed
    /// together, until `claimed_until`. A domain that is gone, or whose plan was written or claimed anew since, is left out. One
    /// statement, however many there are.
    async fn plan_checks(
        &self,
        claimed_until: Timestamp,
        checks: &[ConcludedCheck],
    ) -> Result<(), StoreError>;

    /// Stores as failed at most `at_most` of the domains that read so at `now` because a deadline of theirs has passed
    /// (D39), with [the reason](signpost_domain::FailureReason::at_deadline_of), and plans no more checks of them. Returns how many, which is fewer than `at_most` only if none is left. Where
    /// there is nothing to do, it costs one read.
    ///
    /// A store with a clock of its own takes the earlier of the two for `now`: a node whose clock is ahead must not take
    /// hostnames from those who still have time.
    async fn expire_domains(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError>;

    /// Makes due again at most `at_most` of the checks that were given up, because they were claimed
    /// [`MAX_CLAIMS_OF_A_CHECK`] times: those whose last claim ran out [so long](CHECKS_LEFT_ALONE_FOR) before `now`, the
    /// earliest first, as if they had never been claimed. Returns how many, which is fewer than `at_most` only if no
    /// others are left than those that somebody else is writing, for which this need not wait. Where there is nothing to do, it
    /// costs one read.
    ///
    /// A store with a clock of its own takes the earlier of the two for `now`.
    async fn release_checks(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError>;
}
