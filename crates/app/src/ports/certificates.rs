//! Certificates in the store: what is served, and the work on what is not (D185 to D192).
//!
//! There is one row for each hostname that has or wants a certificate. It has the certificate that is served, the order that
//! is running, and when to act next. A node [claims](CertificateWork::claim_due_certificates) due rows as it claims checks of
//! domains: by moving their dates. Whoever acts on a claim shows it with every step, and a step on a claim that has ended
//! changes nothing. So one node acts on a hostname at a time, and if it dies, another one goes on (D186).
//!
//! Keys and credentials come here sealed, and the store cannot open them (D192).

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::{
    AccountId, BudgetDecision, CertificateFailure, Hostname, OrderKind, SealedSecret, Timestamp,
    ValidationMethod, Validity,
};

use super::certificate_authority::{OrderUrl, RenewalId};
use super::store_error::StoreError;

/// How long a node claims the work on a certificate. An order that takes longer goes on under a new claim.
pub const CLAIM_OF_A_CERTIFICATE: Duration = Duration::from_mins(2);

/// How often the work is claimed without being concluded before it is left alone: it would probably fail again (D186).
pub const MAX_CLAIMS_OF_A_CERTIFICATE: u32 = 5;

/// How long work is left alone after that. The cause may be fixed by then.
pub const CERTIFICATES_LEFT_ALONE_FOR: Duration = Duration::from_hours(24);

/// How long events that count against budgets are kept: as long as the longest budget.
pub const ORDER_EVENTS_KEPT: Duration = Duration::from_hours(7 * 24);

/// A certificate that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedCertificate {
    /// The directory of the authority that issued it.
    pub authority: String,
    /// The certificate and those that lead to the root, as DER. There is at least one.
    pub chain: Vec<Vec<u8>>,
    /// Its private key.
    pub key: SealedSecret,
    /// From when to when it is valid.
    pub validity: Validity,
    /// Who issued it, in words for people.
    pub issuer: String,
    /// How its renewal names it.
    pub renewal_id: Option<RenewalId>,
    /// When it is renewed.
    pub renew_at: Timestamp,
}

/// An order that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningOrder {
    /// The directory of the authority.
    pub authority: String,
    /// The private key of the certificate to come.
    pub key: SealedSecret,
    /// Where the authority shows the order. `None` if it is unknown whether the order was made.
    pub url: Option<OrderUrl>,
    /// Whether the authority was told to validate the hostname.
    pub is_validating: bool,
    /// When it was begun.
    pub begun_at: Timestamp,
}

/// The plan of the work on a certificate, and what its last attempt came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkPlan {
    /// When to act next, or when the claim ends. `None` if nothing is planned.
    pub next_attempt_at: Option<Timestamp>,
    /// When an order was last tried.
    pub last_attempt_at: Option<Timestamp>,
    /// How many attempts have failed since the last success.
    pub failures: u32,
    /// Why the last attempt failed. `None` after a success.
    pub failure: Option<CertificateFailure>,
    /// How the authority validates the hostname in the next order, and in the one that is running.
    pub method: ValidationMethod,
}

/// What is stored about the certificate of a hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCertificate {
    /// The hostname.
    pub hostname: Hostname,
    /// The account whose custom domain it is. `None` for a name of the installation.
    pub account: Option<AccountId>,
    /// The certificate that is served, if there is one.
    pub served: Option<ServedCertificate>,
    /// The order that is running, if there is one.
    pub order: Option<RunningOrder>,
    /// The plan of the work on it.
    pub plan: WorkPlan,
    /// How often the work was claimed without being concluded.
    pub claims: u32,
}

/// What a domain shows of its certificate (D194). It has no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateSummary {
    /// The validity, the issuer and the time of renewal of the certificate that is served.
    pub served: Option<(Validity, String, Timestamp)>,
    /// Whether an order is running.
    pub is_ordering: bool,
    /// The plan of the work on it.
    pub plan: WorkPlan,
    /// How often the work was claimed without being concluded.
    pub claims: u32,
}

impl CertificateSummary {
    /// A certificate that is wanted from `now` on.
    #[must_use]
    pub fn wanted(now: Timestamp) -> Self {
        let plan = WorkPlan { next_attempt_at: Some(now), ..WorkPlan::default() };
        Self { served: None, is_ordering: false, plan, claims: 0 }
    }
}

impl StoredCertificate {
    /// What a domain shows of it.
    #[must_use]
    pub fn summary(&self) -> CertificateSummary {
        let served = self.served.as_ref();
        CertificateSummary {
            served: served.map(|served| (served.validity, served.issuer.clone(), served.renew_at)),
            is_ordering: self.order.is_some(),
            plan: self.plan.clone(),
            claims: self.claims,
        }
    }
}

/// A claim on the work on a certificate. It has ended once the work was claimed again, concluded or hastened, or once the row was
/// deleted. That its time is over does not end it, because nobody else acts on the hostname until then.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CertificateClaim {
    /// The hostname.
    pub hostname: Hostname,
    /// When the claim ends. It identifies the claim.
    pub until: Timestamp,
}

/// A challenge that every node can answer (D188).
#[derive(Clone, PartialEq, Eq)]
pub struct StoredChallenge {
    /// The last part of the path at port 80.
    pub token: String,
    /// The hostname for which it is answered, and for no other.
    pub hostname: Hostname,
    /// The body of the answer at port 80. At port 443 its hash is in the certificate.
    pub key_authorization: String,
    /// When it is forgotten.
    pub expires_at: Timestamp,
}

impl fmt::Debug for StoredChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredChallenge").field("hostname", &self.hostname).finish_non_exhaustive()
    }
}

/// The installation's account at an authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAuthorityAccount {
    /// The URI by which the authority names it.
    pub uri: String,
    /// The credentials.
    pub credentials: SealedSecret,
}

/// Reading what is stored about certificates. Each is one round trip.
#[async_trait]
pub trait CertificateReads: Send + Sync {
    /// What is stored about the certificate of a hostname.
    async fn certificate(&self, hostname: &Hostname) -> Result<Option<StoredCertificate>, StoreError>;

    /// Up to `at_most` rows by hostname, after this one. The cost must not grow with the position. An unreadable row is logged
    /// and left out, but counts; so the second value is the hostname to continue after, `None` if no row is left.
    async fn certificates(
        &self,
        after: Option<&Hostname>,
        at_most: u16,
    ) -> Result<(Vec<StoredCertificate>, Option<Hostname>), StoreError>;

    /// The challenge with this token that has not expired at `now`. Tokens differ in case.
    async fn challenge(&self, token: &str, now: Timestamp) -> Result<Option<StoredChallenge>, StoreError>;

    /// The challenge of this hostname that has not expired at `now`; the one that expires last if there are several.
    async fn challenge_of(
        &self,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<Option<StoredChallenge>, StoreError>;

    /// The installation's account at an authority, by the URL of its directory.
    async fn authority_account(&self, directory: &str) -> Result<Option<StoredAuthorityAccount>, StoreError>;

    /// Until when an authority has asked to be left alone with what the key names: the URL of its directory stands for everything, and
    /// the URL with a fragment for a kind of orders. `None` if it has not.
    async fn authority_wait(&self, key: &str) -> Result<Option<Timestamp>, StoreError>;
}

/// The work on certificates. Each call is a unit of work of its own.
#[async_trait]
pub trait CertificateWork: Send + Sync {
    /// Inserts rows that are due at `now`: for each of these names of the installation, and for up to `at_most` custom domains
    /// that are stored as `ssl_pending` or `active`, as far as their hostnames have none of any account. Returns how many. If
    /// nothing is missing, it writes nothing. It may leave out domains that other units of work are writing.
    async fn want_certificates(
        &self,
        own: &[Hostname],
        now: Timestamp,
        at_most: u16,
    ) -> Result<u16, StoreError>;

    /// Claims the work on up to `at_most` certificates that is due at `now`, the longest due first, until `until`. As for
    /// [`claim_due_checks`](super::DomainChecks::claim_due_checks), one of any number of callers gets each, and work that was
    /// claimed [`MAX_CLAIMS_OF_A_CERTIFICATE`] times is no longer due until [`CERTIFICATES_LEFT_ALONE_FOR`] after its last claim
    /// has ended; then it is claimed once more, with its claims counted from one. If nothing is due, the call costs one read.
    ///
    /// An unreadable row is claimed, logged and left out, so that it does not block others.
    async fn claim_due_certificates(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<StoredCertificate>, StoreError>;

    /// Makes the work on a certificate due at `now`, and resets its claims, unless it is claimed until later. A served
    /// certificate that would be renewed later is renewed then too. Returns whether it did; `false` also if there is no row.
    async fn hasten_certificate(&self, hostname: &Hostname, now: Timestamp) -> Result<bool, StoreError>;

    /// Writes the running order, or removes it. `false` if the claim has ended.
    async fn write_order(
        &self,
        claim: &CertificateClaim,
        order: Option<&RunningOrder>,
    ) -> Result<bool, StoreError>;

    /// Writes a challenge. An earlier one with the same token is replaced. `false` if the claim has ended.
    async fn write_challenge(
        &self,
        claim: &CertificateClaim,
        challenge: &StoredChallenge,
    ) -> Result<bool, StoreError>;

    /// Ends the work for now: writes the plan, and when the served certificate is renewed if `renew_at` is given. The claims are
    /// reset. With `order`, the running order is kept, and otherwise removed with its challenges. `false` if the claim has ended.
    async fn conclude_certificate(
        &self,
        claim: &CertificateClaim,
        plan: &WorkPlan,
        renew_at: Option<Timestamp>,
        order: KeepOrder,
    ) -> Result<bool, StoreError>;

    /// Counts an order against the budgets if all of them allow it (D190), and returns the decision, which is that of
    /// [`OrderUse`](signpost_domain::OrderUse). An event counts until it is as old as the period of the budget. The count and
    /// the decision are one atomic step for all nodes. `registered_domain` is that of the hostname.
    async fn spend_on_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<BudgetDecision, StoreError>;

    /// Counts a failed order against the budgets of failures. It has brought no certificate, so the latest order of this kind for
    /// the hostname counts no longer against the budgets of the registered domain and of the name.
    async fn note_failed_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Stores the installation's account at an authority, unless there is one. Returns the stored one.
    async fn keep_authority_account(
        &self,
        directory: &str,
        account: &StoredAuthorityAccount,
    ) -> Result<StoredAuthorityAccount, StoreError>;

    /// Removes the account at an authority that no longer knows it, if it is this one.
    async fn forget_authority_account(&self, directory: &str, uri: &str) -> Result<(), StoreError>;

    /// Leaves an authority alone until then with what the [key](CertificateReads::authority_wait) names. An earlier instant than the stored
    /// one changes nothing.
    async fn set_authority_wait(&self, key: &str, until: Timestamp) -> Result<(), StoreError>;

    /// Deletes up to `at_most` each of expired challenges and of events whose age is [`ORDER_EVENTS_KEPT`] or more at `now`.
    /// Returns whether more are left. If nothing is left to do, it writes nothing.
    async fn forget_order_events(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError>;
}

/// What happens to the running order when the work ends for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepOrder {
    /// It goes on at the next attempt.
    Yes,
    /// It has ended.
    No,
}

/// The account of changes of the installation's own names. There is no such account.
pub const NO_ACCOUNT: AccountId = AccountId::from_bytes([0; 16]);

/// Changing certificates, within a unit of work.
///
/// The row of a custom domain's hostname is deleted in the unit of work in which the domain is deleted, or stored with a status
/// that may have no certificate: by [`delete_custom_domain`](super::CustomDomainWrites::delete_custom_domain),
/// [`update_custom_domain`](super::CustomDomainWrites::update_custom_domain),
/// [`expire_domains`](super::DomainChecks::expire_domains) and the deletion of the account (D198). The row of another account,
/// or of the installation, stays. Whenever a row is deleted, its challenges are deleted too.
#[async_trait]
pub trait CertificateWrites: Send {
    /// Inserts a row for a custom domain that is due at `now`, unless its hostname has one. A row that was inserted for a name of
    /// the installation becomes the domain's.
    async fn want_certificate(
        &mut self,
        account: AccountId,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Writes the certificate of an order with the plan of what follows, which ends the claim and the order with its challenges.
    /// It is a visible change of the hostname: of the domain of its account, or of [no account](NO_ACCOUNT) for a name of the
    /// installation. `false` if the claim has ended; nothing is written then.
    async fn write_certificate(
        &mut self,
        claim: &CertificateClaim,
        certificate: &ServedCertificate,
        plan: &WorkPlan,
    ) -> Result<bool, StoreError>;

    /// Deletes the row of a hostname, so that it is no longer served. It is a visible change. `false` if there is none.
    async fn delete_certificate(&mut self, hostname: &Hostname) -> Result<bool, StoreError>;
}
