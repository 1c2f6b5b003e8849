//! The steps of an order at the authority. Each is stored before the next, so that a crash loses nothing (D187).

use std::time::Duration;

use signpost_domain::{
    BudgetDecision, CertificateFailure, CertificateFailureReason, OrderBudget, OrderKind, Timestamp,
};

use super::attempt::{Attempt, unavailable};
use super::certificate_purpose;
use super::permission::{Permission, Urgency, permission};
use crate::app_error::AppError;
use crate::node_health::Part;
use crate::ports::{
    AuthorityAccount, AuthorityError, CertificateKey, IssuedCertificate, KeepOrder, OrderProgress, OrderUrl,
    RandomnessUnavailable, RunningOrder, StoreError, StoredChallenge, WaitScope,
};

/// How long a challenge is answered. Authorities validate within a minute.
const CHALLENGE_KEPT: Duration = Duration::from_mins(10);

/// How long to wait until the name servers of a hostname are asked again.
const DNS_PAUSE: Duration = Duration::from_mins(5);

/// How long all orders wait after the authority could not be reached.
const OUTAGE_PAUSE: Duration = Duration::from_mins(1);

/// How long the order waits in which the authority gave no usable answer: longer than the others, so that one hostname with which the
/// authority cannot deal does not hold them up each time.
const UNANSWERED_PAUSE: Duration = Duration::from_mins(2);

/// How far an order came.
pub(super) enum End {
    /// The certificate and the order, which has its sealed key.
    Issued(Box<(IssuedCertificate, RunningOrder)>),
    /// The authority is working on it.
    Underway { ask_again_at: Option<Timestamp> },
    /// The authority was asked, and it failed. That counts against the budgets of failures.
    Failed(CertificateFailure),
    /// It would fail, so the authority was not asked.
    Hopeless(CertificateFailure),
    /// It has to wait. A running order goes on.
    Waiting { until: Timestamp, failure: CertificateFailure },
    /// Another attempt may succeed at once.
    Interrupted(KeepOrder),
    /// Another order or node is making the account at the authority, which takes moments.
    AccountUnderway,
    /// The hostname is no longer proven.
    NotHeld,
    /// The claim has ended.
    Overtaken,
}

/// Whether an order has been counted against the budgets. One that was tried before and may have been made was counted then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Already,
    NotYet,
}

/// Why the steps of an order ended early.
pub(super) enum Stop {
    /// The order ended so.
    End(Box<End>),
    /// The authority did not take a step.
    Authority(AuthorityError),
    /// The authority did not take a step of an order that it has.
    Order(AuthorityError),
    /// The store broke, or there are no random bytes.
    Broken(AppError),
}

impl From<AuthorityError> for Stop {
    fn from(error: AuthorityError) -> Self {
        Self::Authority(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Broken(error.into())
    }
}

impl From<RandomnessUnavailable> for Stop {
    fn from(error: RandomnessUnavailable) -> Self {
        Self::Broken(error.into())
    }
}

impl Attempt<'_> {
    /// Goes on with the order, or makes one.
    pub(super) async fn go_on(&self, now: Timestamp) -> Result<End, Stop> {
        let directory = &self.issuance.directory;
        if let Some(until) = self.app.store.authority_wait(directory).await?.filter(|until| *until > now) {
            return Ok(End::Waiting {
                until,
                failure: unavailable("The certificate authority is asked again later."),
            });
        }
        let account = self.account().await?;
        let order = self.certificate.order.as_ref().filter(|order| order.authority == *directory);
        match order {
            Some(order @ RunningOrder { url: Some(url), .. }) => {
                self.advance(&account, order.clone(), url).await
            }
            // Without a URL it is unknown whether the order was made. Another one costs less than an order that nobody ends.
            Some(RunningOrder { url: None, .. }) => self.begin(&account, Counted::Already, now).await,
            None => self.begin(&account, Counted::NotYet, now).await,
        }
    }

    /// What an order for the hostname counts as.
    pub(super) fn order_kind(&self) -> OrderKind {
        let Self { issuance, certificate, .. } = self;
        match certificate.served.as_ref() {
            Some(served) if served.authority == issuance.directory => {
                OrderKind::Renewal { names_predecessor: served.renewal_id.is_some() }
            }
            Some(_) => OrderKind::Catchup,
            None => OrderKind::New,
        }
    }

    /// What the store calls the things that the authority wants to be left alone with. `None` if that is this hostname alone, whose row
    /// says when it is tried again. No directory has a fragment in its URL, and each registered domain that has met a limit leaves one row.
    fn wait_key(&self, scope: WaitScope) -> Option<String> {
        let (directory, domain) = (&self.issuance.directory, &self.registered_domain);
        match scope {
            WaitScope::Hostname => None,
            WaitScope::NewOrders => Some(format!("{directory}#new-orders")),
            WaitScope::RegisteredDomain => Some(format!("{directory}#new-orders-under-{domain}")),
            WaitScope::Everything => Some(directory.clone()),
        }
    }

    /// How the attempt ends if the authority takes no orders for new names at the moment, and this would be one.
    async fn wait_with_new_orders(&self, now: Timestamp) -> Result<Option<End>, StoreError> {
        if matches!(self.order_kind(), OrderKind::Renewal { .. }) {
            return Ok(None);
        }
        for (scope, text) in [
            (
                WaitScope::NewOrders,
                "The certificate authority takes no new names of this installation at the moment.",
            ),
            (
                WaitScope::RegisteredDomain,
                "The certificate authority takes no new names under the registered domain at the moment.",
            ),
        ] {
            let Some(key) = self.wait_key(scope) else { continue };
            if let Some(until) = self.app.store.authority_wait(&key).await?.filter(|until| *until > now) {
                let failure = CertificateFailure::new(CertificateFailureReason::RateLimited, text);
                return Ok(Some(End::Waiting { until, failure }));
            }
        }
        Ok(None)
    }

    /// Makes an order.
    async fn begin(&self, account: &AuthorityAccount, counted: Counted, now: Timestamp) -> Result<End, Stop> {
        let Self { app, issuance, certificate, .. } = self;
        let hostname = &certificate.hostname;
        if let Some(waiting) = self.wait_with_new_orders(now).await? {
            return Ok(waiting);
        }
        let issuer_domains = issuance.authority.issuer_domains().await?;
        let mut kind = self.order_kind();
        match permission(app, certificate, &issuer_domains, &account.uri).await? {
            Permission::Granted(Urgency::InUse) if kind == OrderKind::New => kind = OrderKind::Catchup,
            Permission::Granted(Urgency::InUse | Urgency::Awaited) => {}
            Permission::NotHeld => return Ok(End::NotHeld),
            Permission::Refused(failure) => return Ok(End::Hopeless(failure)),
            Permission::Unanswered(failure) => {
                return Ok(End::Waiting { until: now.plus(DNS_PAUSE), failure });
            }
        }
        let predecessor = certificate.served.as_ref();
        let replaces = predecessor
            .filter(|served| served.authority == issuance.directory)
            .and_then(|served| served.renewal_id.as_ref());
        if counted == Counted::NotYet
            && let Some(exhausted) = self.spend(kind, now).await?
        {
            return Ok(exhausted);
        }
        let key = issuance.authority.new_key()?;
        let sealed = issuance.sealer.seal(&certificate_purpose(hostname), key.pkcs8_der())?;
        let authority = issuance.directory.clone();
        let mut order =
            RunningOrder { authority, key: sealed, url: None, is_validating: false, begun_at: now };
        self.write_order(&order).await?;
        let url = match issuance.authority.order(account, hostname, replaces).await {
            Err(AuthorityError::AlreadyReplaced) => issuance.authority.order(account, hostname, None).await?,
            made => made?,
        };
        order.url = Some(url.clone());
        self.write_order(&order).await?;
        self.advance(account, order, &url).await
    }

    /// Counts an order against the budgets. Returns how the attempt ends if one of them is used up.
    async fn spend(&self, kind: OrderKind, now: Timestamp) -> Result<Option<End>, Stop> {
        let Self { app, certificate, registered_domain, .. } = self;
        let spent = app.store.spend_on_order(&certificate.hostname, registered_domain, kind, now).await?;
        Ok(match spent {
            BudgetDecision::Allowed => None,
            BudgetDecision::Exhausted { budget, ask_again_at } => {
                let limited = CertificateFailure::new(CertificateFailureReason::RateLimited, text_of(budget));
                let failure = match budget {
                    // The cause of the failures is what its owner has to correct.
                    OrderBudget::HourlyFailures | OrderBudget::DailyFailures => {
                        certificate.plan.failure.clone().unwrap_or(limited)
                    }
                    OrderBudget::NewOrders | OrderBudget::RegisteredDomain | OrderBudget::Name => {
                        tracing::warn!(hostname = %certificate.hostname, ?budget, until = %ask_again_at, "a certificate has to wait for a limit");
                        limited
                    }
                };
                Some(End::Waiting { until: ask_again_at, failure })
            }
        })
    }

    /// Takes every step of an order that can be taken without waiting.
    async fn advance(
        &self,
        account: &AuthorityAccount,
        order: RunningOrder,
        url: &OrderUrl,
    ) -> Result<End, Stop> {
        self.take_steps(account, order, url).await.map_err(|stop| match stop {
            Stop::Authority(error) => Stop::Order(error),
            Stop::Order(_) | Stop::End(_) | Stop::Broken(_) => stop,
        })
    }

    async fn take_steps(
        &self,
        account: &AuthorityAccount,
        mut order: RunningOrder,
        url: &OrderUrl,
    ) -> Result<End, Stop> {
        let Self { issuance, certificate, .. } = self;
        let authority = &issuance.authority;
        let method = certificate.plan.method;
        let mut progress = authority.progress(account, url, method).await?;
        if let OrderProgress::Ready = progress {
            let Some(key) = self.order_key(&order) else { return Ok(End::Interrupted(KeepOrder::No)) };
            authority.finalize(account, url, &certificate.hostname, &key).await?;
            progress = authority.progress(account, url, method).await?;
        }
        match progress {
            OrderProgress::Challenged { challenge, is_validating, ask_again_at } => {
                let challenge = StoredChallenge {
                    token: challenge.token,
                    hostname: certificate.hostname.clone(),
                    key_authorization: challenge.key_authorization,
                    expires_at: self.app.clock.now().plus(CHALLENGE_KEPT),
                };
                held(self.app.store.write_challenge(&self.claim, &challenge).await?)?;
                if !order.is_validating && !is_validating {
                    authority.begin_validation(account, url, method).await?;
                    order.is_validating = true;
                    self.write_order(&order).await?;
                }
                Ok(End::Underway { ask_again_at })
            }
            OrderProgress::Ready => Ok(End::Underway { ask_again_at: None }),
            OrderProgress::Processing { ask_again_at } => Ok(End::Underway { ask_again_at }),
            OrderProgress::Issued => {
                let Some(key) = self.order_key(&order) else { return Ok(End::Interrupted(KeepOrder::No)) };
                let issued = authority.download(account, url, &certificate.hostname, &key).await?;
                Ok(End::Issued(Box::new((issued, order))))
            }
            OrderProgress::Failed(failure) => Ok(End::Failed(failure)),
        }
    }

    /// The key of a running order. `None` if it was sealed with another secrets key; then the order is given up.
    fn order_key(&self, order: &RunningOrder) -> Option<CertificateKey> {
        let hostname = &self.certificate.hostname;
        let der = self.issuance.sealer.open(&certificate_purpose(hostname), &order.key);
        if der.is_none() {
            tracing::error!(%hostname, "the key of a running order was sealed with another `secrets-key`: ordering anew");
        }
        der.map(CertificateKey::from_pkcs8_der)
    }

    async fn write_order(&self, order: &RunningOrder) -> Result<(), Stop> {
        held(self.app.store.write_order(&self.claim, Some(order)).await?)
    }

    /// Notes for operators why the authority is unavailable. Members read the stored message, which has no details of the installation.
    fn note_cause(&self, cause: &str) {
        let Self { app, certificate, .. } = self;
        let code = CertificateFailureReason::AuthorityUnavailable;
        let text = format!("{}: {}: {cause}", certificate.hostname, code.as_str());
        app.health.fails_with(Part::Certificates, app.clock.now(), &text);
    }

    /// What an error of the authority means: about an order that it has, or before there is one.
    pub(super) async fn end_by(&self, error: AuthorityError, has_order: bool) -> Result<End, AppError> {
        let Self { app, issuance, certificate, .. } = self;
        let hostname = &certificate.hostname;
        let now = app.clock.now();
        Ok(match error {
            AuthorityError::Transient | AuthorityError::AlreadyReplaced => End::Interrupted(KeepOrder::Yes),
            AuthorityError::Wait { until, scope, failure } => {
                tracing::warn!(%hostname, %until, "the certificate authority asks to wait");
                if let Some(key) = self.wait_key(scope) {
                    app.store.set_authority_wait(&key, until).await?;
                }
                End::Waiting { until, failure }
            }
            AuthorityError::Refused(failure) => End::Failed(failure),
            AuthorityError::Unavailable { reason } => {
                tracing::warn!(%hostname, reason, "the certificate authority is unavailable");
                self.note_cause(&reason);
                let failure = unavailable("The certificate authority gave no answer.");
                if has_order {
                    // It may be this order alone with which the authority cannot deal.
                    End::Waiting { until: now.plus(OUTAGE_PAUSE), failure }
                } else {
                    app.store.set_authority_wait(&issuance.directory, now.plus(OUTAGE_PAUSE)).await?;
                    End::Waiting { until: now.plus(UNANSWERED_PAUSE), failure }
                }
            }
            AuthorityError::NoSuchOrder => End::Interrupted(KeepOrder::No),
            AuthorityError::NoSuchAccount => {
                tracing::warn!(
                    "the certificate authority does not know the account any more: making another one"
                );
                if let Some(account) = app.store.authority_account(&issuance.directory).await? {
                    app.store.forget_authority_account(&issuance.directory, &account.uri).await?;
                }
                End::Interrupted(KeepOrder::No)
            }
            AuthorityError::Unusable { reason } => {
                tracing::error!(%hostname, reason, "a key for a certificate cannot be used");
                self.note_cause(&reason);
                End::Failed(unavailable("A key of this installation cannot be used."))
            }
        })
    }
}

/// Goes on only while the claim holds.
fn held(is_held: bool) -> Result<(), Stop> {
    if is_held { Ok(()) } else { Err(Stop::End(Box::new(End::Overtaken))) }
}

/// What to say about a budget that is used up (D190).
const fn text_of(budget: OrderBudget) -> &'static str {
    match budget {
        OrderBudget::NewOrders => {
            "This installation has ordered as many new certificates as it may within three hours."
        }
        OrderBudget::RegisteredDomain => {
            "This installation has ordered as many certificates under the registered domain as it may within seven days."
        }
        OrderBudget::Name => "The hostname has got as many certificates as it may within seven days.",
        OrderBudget::HourlyFailures | OrderBudget::DailyFailures => {
            "Too many attempts for the hostname have failed: correct the cause, and the next attempt follows by itself."
        }
    }
}
