//! The work on one certificate: what is due, and how it ends.

use std::time::Duration;

use signpost_domain::{
    CertificateFailure, CertificateFailureReason, RetryPlan, Timestamp, registered_domain,
};

use super::order::{End, Stop};
use super::{Issuance, spread};
use crate::app_error::AppError;
use crate::application::Application;
use crate::ports::{
    CertificateClaim, IssuedCertificate, KeepOrder, RunningOrder, ServedCertificate, StoredCertificate,
    WorkPlan,
};

/// How long an order may go on without a result.
const MAX_ORDER_TIME: Duration = Duration::from_hours(1);

/// A name that is in the store, but not among this node's own names, is looked at again after this time: while nodes are restarted
/// one by one with new settings, another node knows it already.
const NOT_WANTED_PAUSE: Duration = Duration::from_mins(5);

/// How long to wait for the account that another order is making.
const ACCOUNT_PAUSE: Duration = Duration::from_secs(1);

/// From this number of failures in a row on, each is logged as a warning.
const MANY_FAILURES: u32 = 3;

/// What the work on a certificate came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The certificate is in service.
    Issued,
    /// The authority is working on the order.
    Underway,
    /// A limit, the authority or name servers make the order wait.
    Waiting,
    /// The attempt failed.
    Failed,
    /// The attempt ended without saying anything about the hostname.
    Interrupted,
    /// Nothing is due but the question when to renew, which was asked.
    Asked,
    /// The hostname wants no certificate any more.
    NotWanted,
    /// The claim has ended meanwhile.
    Overtaken,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 8] = [
        Self::Issued,
        Self::Underway,
        Self::Waiting,
        Self::Failed,
        Self::Interrupted,
        Self::Asked,
        Self::NotWanted,
        Self::Overtaken,
    ];

    /// The label in metrics.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Issued => "issued",
            Self::Underway => "underway",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Asked => "asked",
            Self::NotWanted => "not_wanted",
            Self::Overtaken => "overtaken",
        }
    }
}

/// Takes the next steps for a certificate that this node has claimed until `claimed_until`.
///
/// # Errors
/// The store broke, or there are no random bytes. The claim then ends by itself.
pub async fn work_on(
    app: &Application,
    issuance: &Issuance,
    certificate: StoredCertificate,
    claimed_until: Timestamp,
) -> Result<Outcome, AppError> {
    let claim = CertificateClaim { hostname: certificate.hostname.clone(), until: claimed_until };
    let registered_domain = registered_domain(&certificate.hostname).to_owned();
    let attempt = Attempt { app, issuance, certificate, claim, registered_domain };
    attempt.run().await
}

/// The work on one certificate.
pub(super) struct Attempt<'a> {
    pub(super) app: &'a Application,
    pub(super) issuance: &'a Issuance,
    pub(super) certificate: StoredCertificate,
    pub(super) claim: CertificateClaim,
    pub(super) registered_domain: String,
}

impl Attempt<'_> {
    async fn run(self) -> Result<Outcome, AppError> {
        let StoredCertificate { hostname, account, served, order, .. } = &self.certificate;
        let now = self.app.clock.now();
        if account.is_none() && !self.issuance.own_names.contains(hostname) {
            let plan = WorkPlan { next_attempt_at: Some(now.plus(NOT_WANTED_PAUSE)), ..self.plan() };
            return self.conclude(plan, KeepOrder::Yes, Outcome::NotWanted).await;
        }
        // A certificate of an authority that is no longer used is replaced as if there were none: it may be one of tests.
        let is_kept = |served: &&ServedCertificate| {
            order.is_none() && now < served.renew_at && served.authority == self.issuance.directory
        };
        if let Some(served) = served.as_ref().filter(is_kept) {
            return self.ask_when_to_renew(served).await;
        }
        let end = match self.go_on(now).await {
            Ok(end) => end,
            Err(Stop::End(end)) => *end,
            Err(Stop::Authority(error)) => self.end_by(error, false).await?,
            Err(Stop::Order(error)) => self.end_by(error, true).await?,
            Err(Stop::Broken(error)) => return Err(error),
        };
        self.end(end).await
    }

    /// The plan as it was when the work was claimed.
    pub(super) fn plan(&self) -> WorkPlan {
        self.certificate.plan.clone()
    }

    /// Writes how the work ended.
    async fn end(&self, end: End) -> Result<Outcome, AppError> {
        let now = self.app.clock.now();
        let plan = self.plan();
        let jitter = || spread::<1>(self.app).map(|[byte]| byte);
        match end {
            End::Issued(issued) => {
                let (IssuedCertificate { chain, validity, issuer, renewal_id }, order) = *issued;
                let RunningOrder { authority, key, .. } = order;
                let renew_at = validity.renew_at(None, 0, now);
                let served =
                    ServedCertificate { authority, chain, key, validity, issuer, renewal_id, renew_at };
                self.put_into_service(&served).await
            }
            End::Underway { ask_again_at } => {
                let begun = self.begun_at().unwrap_or(now);
                if now > begun.plus(MAX_ORDER_TIME) {
                    let failure = unavailable("The certificate authority did not finish the order in time.");
                    return self.fail_order(failure, jitter()?).await;
                }
                let next = now.plus(pause_since(begun, now));
                let next_attempt_at = Some(ask_again_at.map_or(next, |asked| asked.max(next)));
                let plan = WorkPlan { next_attempt_at, last_attempt_at: Some(begun), ..plan };
                self.conclude(plan, KeepOrder::Yes, Outcome::Underway).await
            }
            End::Failed(failure) => self.fail_order(failure, jitter()?).await,
            End::Hopeless(failure) => self.fail(failure, jitter()?).await,
            // While the authority wants to be left alone, the order does not count as late.
            End::Waiting { until, failure }
                if until <= now.plus(MAX_ORDER_TIME)
                    && self.begun_at().is_some_and(|begun| now > begun.plus(MAX_ORDER_TIME)) =>
            {
                self.fail_order(failure, jitter()?).await
            }
            End::Waiting { until, failure } => {
                let next_attempt_at = Some(until.max(now.plus(Duration::from_secs(1))));
                let plan =
                    WorkPlan { next_attempt_at, last_attempt_at: Some(now), failure: Some(failure), ..plan };
                self.conclude(plan, KeepOrder::Yes, Outcome::Waiting).await
            }
            End::Interrupted(keep) => {
                let retry = RetryPlan::after_interruption(plan.failures, now, jitter()?, None);
                let plan = WorkPlan { next_attempt_at: Some(retry.next_attempt_at), ..plan };
                self.conclude(plan, keep, Outcome::Interrupted).await
            }
            End::AccountUnderway => {
                let plan = WorkPlan { next_attempt_at: Some(now.plus(ACCOUNT_PAUSE)), ..plan };
                self.conclude(plan, KeepOrder::Yes, Outcome::Waiting).await
            }
            End::NotHeld => self.remove().await,
            End::Overtaken => Ok(Outcome::Overtaken),
        }
    }

    /// When the order that runs was begun. `None` if the authority had none when the work was claimed.
    fn begun_at(&self) -> Option<Timestamp> {
        self.certificate.order.as_ref().filter(|order| order.url.is_some()).map(|order| order.begun_at)
    }

    /// Ends an order without a certificate, which counts against the budgets of failures.
    async fn fail_order(&self, failure: CertificateFailure, jitter: u8) -> Result<Outcome, AppError> {
        let Self { app, certificate, registered_domain, .. } = self;
        let (hostname, now) = (&certificate.hostname, app.clock.now());
        app.store.note_failed_order(hostname, registered_domain, self.order_kind(), now).await?;
        self.fail(failure, jitter).await
    }

    async fn fail(&self, failure: CertificateFailure, jitter: u8) -> Result<Outcome, AppError> {
        let Self { app, certificate, .. } = self;
        let hostname = &certificate.hostname;
        let now = app.clock.now();
        let retry = RetryPlan::after_failure(certificate.plan.failures, now, jitter, None);
        let (reason, next) = (failure.reason.as_str().to_owned(), retry.next_attempt_at);
        let detail = failure.message.as_ref().map(ToString::to_string);
        if retry.failures >= MANY_FAILURES {
            tracing::warn!(%hostname, reason, detail, failures = retry.failures, %next, "a certificate cannot be obtained");
        } else {
            tracing::info!(%hostname, reason, detail, %next, "a certificate was not obtained");
        }
        let plan = WorkPlan {
            next_attempt_at: Some(next),
            last_attempt_at: Some(now),
            failures: retry.failures,
            method: certificate.plan.method.after_failure(&failure.reason),
            failure: Some(failure),
        };
        self.conclude(plan, KeepOrder::No, Outcome::Failed).await
    }

    pub(super) async fn conclude(
        &self,
        plan: WorkPlan,
        order: KeepOrder,
        outcome: Outcome,
    ) -> Result<Outcome, AppError> {
        let is_held = self.app.store.conclude_certificate(&self.claim, &plan, None, order).await?;
        Ok(if is_held { outcome } else { Outcome::Overtaken })
    }
}

/// How long to wait for an order that began at `begun`: seconds at first, because visitors may be waiting.
fn pause_since(begun: Timestamp, now: Timestamp) -> Duration {
    const STEPS: [(Duration, Duration); 2] = [
        (Duration::from_mins(1), Duration::from_secs(1)),
        (Duration::from_mins(10), Duration::from_secs(10)),
    ];
    let step = STEPS.iter().find(|(age, _)| now < begun.plus(*age));
    step.map_or(Duration::from_mins(1), |(_, pause)| *pause)
}

/// A failure of the authority, in words of ours.
pub(super) fn unavailable(text: &str) -> CertificateFailure {
    CertificateFailure::new(CertificateFailureReason::AuthorityUnavailable, text)
}
