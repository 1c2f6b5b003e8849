//! Custom domains in the store.

use async_trait::async_trait;
use signpost_domain::{
    AccountId, AppFileKind, CheckPlan, CustomDomain, DnsObservation, DomainFiles, DomainId, Hostname, Page,
    PageLimit, PagePosition, Timestamp,
};

use super::domain_schedule::ScheduledDomain;
use super::insert_resource::InsertResourceError;
use super::published_links::{PublishedFile, PublishedSite};
use super::store_error::StoreError;

/// Reading custom domains. All methods return the stored status; [`CustomDomain::at`] gives the status at an instant.
#[async_trait]
pub trait CustomDomainReads: Send + Sync {
    /// The account's domain with this id, with its files.
    async fn custom_domain(
        &self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError>;

    /// One page of the account's domains in any status, without their files, newest (highest id) first, starting after
    /// `after`. The cost must not grow with the depth of the page.
    async fn custom_domains(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<ScheduledDomain>, StoreError>;

    /// The account's domains with these hostnames, in any order. There are at most as many hostnames as a
    /// [`Batch`](signpost_domain::Batch) has items.
    async fn custom_domains_named(
        &self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError>;

    /// The domain of any account with this hostname that is not stored as failed. There is at most one.
    async fn holder_of(&self, hostname: &Hostname) -> Result<Option<CustomDomain>, StoreError>;

    /// What visitors get on a hostname besides links (D127). `None` unless a domain with this hostname serves links.
    async fn published_site(&self, hostname: &Hostname) -> Result<Option<PublishedSite>, StoreError>;

    /// A file of the domain with this hostname (D127). `None` unless the domain serves links.
    async fn published_file(
        &self,
        hostname: &Hostname,
        kind: AppFileKind,
    ) -> Result<Option<PublishedFile>, StoreError>;
}

/// The domains with a hostname, as an account sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// The account's own domain with the hostname, in any status.
    pub own: Option<ScheduledDomain>,
    /// Another account's domain with the hostname that is not stored as failed.
    pub holder: Option<CustomDomain>,
}

/// Why a domain was not inserted.
#[derive(Debug, thiserror::Error)]
pub enum InsertCustomDomainError {
    /// A decision: another domain has the hostname, and it belongs to the same account or is not stored as failed.
    #[error("the hostname is taken")]
    HostnameTaken,
    /// As for every resource that the plan limits.
    #[error(transparent)]
    Resource(#[from] InsertResourceError),
}

impl From<StoreError> for InsertCustomDomainError {
    fn from(error: StoreError) -> Self {
        Self::Resource(error.into())
    }
}

/// Why a domain was not updated.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCustomDomainError {
    /// A decision: the domain is stored as failed and would leave that status, but another domain holds the hostname.
    #[error("the hostname is taken")]
    HostnameTaken,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The accounts whose links lose their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinksOf {
    /// One account.
    Account(AccountId),
    /// All accounts except one.
    AllBut(AccountId),
}

/// Changing custom domains, within a unit of work.
#[async_trait]
pub trait CustomDomainWrites: Send {
    /// The account's domain with this id and its files, locked until this unit of work ends.
    async fn lock_custom_domain(
        &mut self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError>;

    /// The domains with `hostname`, as the account sees them. All domains with this hostname, including failed ones of other
    /// accounts, are locked until this unit of work ends.
    async fn lock_claims(&mut self, account: AccountId, hostname: &Hostname) -> Result<Claims, StoreError>;

    /// The account's domains with these hostnames, in any order. There are at most as many hostnames as a
    /// [`Batch`](signpost_domain::Batch) has items. Until this unit of work ends, these domains cannot be
    /// deleted and the hostnames cannot pass to another account. So links can be placed there.
    async fn hold_custom_domains(
        &mut self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError>;

    /// Inserts a domain and updates the account's count of domains, which never exceeds `domains_limit`. If several decisions
    /// apply, it reports the limit first. An id that already exists in any account is a failure, not a decision.
    async fn insert_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
        domains_limit: u64,
    ) -> Result<(), InsertCustomDomainError>;

    /// Writes the status, failure reason, observation and revision of a domain, and the plan of its checks.
    /// [`lock_custom_domain`](Self::lock_custom_domain) or [`lock_claims`](Self::lock_claims) must have
    /// returned the domain in this unit of work. Claims of its check are reset. Its id, account, hostname,
    /// creation and settings do not change.
    async fn update_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
    ) -> Result<(), UpdateCustomDomainError>;

    /// Writes the settings and the revision of a domain that [`lock_custom_domain`](Self::lock_custom_domain) returned in this
    /// unit of work (D127). Its status, the plan of its checks and any claim stay.
    async fn update_domain_settings(
        &mut self,
        domain: &CustomDomain,
        files: &DomainFiles,
    ) -> Result<(), StoreError>;

    /// Writes only the observation of a domain that [`lock_claims`](Self::lock_claims) returned in this unit of work. The plan
    /// of its checks and any claim stay. It is not a visible change.
    async fn record_observation(
        &mut self,
        account: AccountId,
        id: DomainId,
        observation: &DnsObservation,
    ) -> Result<(), StoreError>;

    /// Deletes a domain and updates the account's count of domains. Links that are still placed there do not change. `false`
    /// if the account has no such domain.
    async fn delete_custom_domain(&mut self, account: AccountId, id: DomainId) -> Result<bool, StoreError>;

    /// Takes the address from up to `at_most` of the links on a hostname. They keep their slug (D22), and get `now` as their
    /// `updated_at`, but never an earlier one than they have. Returns how many: fewer than `at_most` only if none is left.
    /// `at_most` bounds the cost.
    async fn lose_some_links(
        &mut self,
        whose: LinksOf,
        hostname: &Hostname,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError>;
}

/// A check that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueCheck {
    /// The stored domain.
    pub domain: CustomDomain,
    /// How many checks were concluded since the plan of checks began.
    pub checks_made: u32,
    /// How often this check was claimed, including this time. At [`MAX_CLAIMS_OF_A_CHECK`](super::MAX_CLAIMS_OF_A_CHECK) this is the last attempt.
    pub claims: u32,
}

/// The result of a check that changed no status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcludedCheck {
    /// The domain.
    pub id: DomainId,
    /// The plan of the next check.
    pub plan: CheckPlan,
    /// The new observation. `None` leaves the stored one, if DNS gave no answer.
    pub observation: Option<DnsObservation>,
}

/// Claiming due checks of domains and storing their plans (D42). Each call is a unit of work of its own.
#[async_trait]
pub trait DomainChecks: Send + Sync {
    /// Claims up to `at_most` checks that are due at `now`, the longest due first.
    ///
    /// A claimed check is not due again before `until`, unless its plan is written. So of any number of concurrent callers one
    /// gets it, and if that node dies, another one gets it later. A check that was claimed [`MAX_CLAIMS_OF_A_CHECK`](super::MAX_CLAIMS_OF_A_CHECK) times
    /// since its plan was last written is no longer due until it is [released](Self::release_checks). If nothing is due, the
    /// call costs one read.
    ///
    /// An unreadable row is claimed, logged and left out, so that it does not block other checks.
    async fn claim_due_checks(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<DueCheck>, StoreError>;

    /// Writes the plans and observations after checks that changed no status, and resets their claims. The checks were claimed
    /// together, until `claimed_until`. It skips domains that were deleted, and those whose plan was written or claimed again
    /// since. It takes one statement for any number of checks.
    async fn plan_checks(
        &self,
        claimed_until: Timestamp,
        checks: &[ConcludedCheck],
    ) -> Result<(), StoreError>;

    /// Stores up to `at_most` domains whose deadline has passed at `now` as failed (D39), with
    /// [the reason](signpost_domain::FailureReason::at_deadline_of) and as a revision of the time of the deadline (D120), and
    /// ends their checks. Returns how many: fewer than `at_most` only if none is left. If nothing is left to do, it costs one
    /// read.
    ///
    /// A store with a clock of its own uses the earlier of that clock and `now`. A node whose clock is ahead
    /// must not take hostnames from accounts that still have time.
    async fn expire_domains(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError>;

    /// Makes up to `at_most` checks due again that were given up after [`MAX_CLAIMS_OF_A_CHECK`](super::MAX_CLAIMS_OF_A_CHECK) claims, and
    /// resets their claims. It takes those whose last claim ended [a day](super::CHECKS_LEFT_ALONE_FOR) or more
    /// before `now`, the earliest first. Returns how many. That is fewer than `at_most` only if none is left,
    /// or if other units of work are writing the rest, for which it need not wait. If nothing is left to do,
    /// it costs one read.
    ///
    /// A store with a clock of its own uses the earlier of that clock and `now`.
    async fn release_checks(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError>;
}
