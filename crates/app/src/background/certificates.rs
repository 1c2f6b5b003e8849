//! The work on certificates (D186).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use signpost_domain::{CertificateFailure, CertificateFailureReason, Hostname};

use super::{DoneBy, Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;
use crate::certificates::{Issuance, Outcome, want_missing, work_on};
use crate::node_health::Part;
use crate::ports::CLAIM_OF_A_CERTIFICATE;

const ATTEMPTS: &str = "signpost_certificate_attempts_total";

/// How many certificates one step works on, all at the same time. Together with the pause between steps it bounds how fast this
/// node asks the authority.
const AT_ONCE: u16 = 8;

/// How many rows of each kind one step deletes.
const FORGOTTEN_AT_ONCE: u16 = 500;

/// Orders and renews certificates. Every node does so, and claims keep two nodes from working on the same hostname.
///
/// Work that panics, cannot be written, or is dropped stays claimed until its claim ends. After
/// [five](crate::ports::MAX_CLAIMS_OF_A_CERTIFICATE) such claims it is left alone
/// [for a day](crate::ports::CERTIFICATES_LEFT_ALONE_FOR).
pub struct ObtainCertificates {
    app: Arc<Application>,
}

impl ObtainCertificates {
    /// The job for this application.
    #[must_use]
    pub fn new(app: Arc<Application>) -> Self {
        metrics::describe_counter!(
            ATTEMPTS,
            "Attempts of this node to obtain or renew certificates, by outcome."
        );
        for outcome in Outcome::ALL {
            metrics::counter!(ATTEMPTS, "outcome" => outcome.label()).increment(0);
        }
        Self { app }
    }

    async fn step_with(&self, issuance: &Issuance) -> Result<Progress, AppError> {
        let app = &self.app;
        let now = app.clock.now();
        let claimed_until = now.plus(CLAIM_OF_A_CERTIFICATE);
        let due = app.store.claim_due_certificates(now, claimed_until, AT_ONCE).await?;
        let is_full = due.len() >= usize::from(AT_ONCE);
        let working = due.into_iter().map(|certificate| async move {
            let hostname = certificate.hostname.clone();
            let work = work_on(app, issuance, certificate, claimed_until);
            match AssertUnwindSafe(work).catch_unwind().await {
                Ok(Ok(outcome)) => {
                    note(app, &hostname, outcome).await;
                    metrics::counter!(ATTEMPTS, "outcome" => outcome.label()).increment(1);
                }
                Ok(Err(error)) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(%hostname, %error, cause, "the work on a certificate was not concluded");
                }
                Err(_) => tracing::error!(%hostname, "the work on a certificate panicked"),
            }
        });
        join_all(working).await;
        Ok(if is_full { Progress::More } else { Progress::Done })
    }
}

/// Notes for operators what became of the work on a certificate. The reason of a failure is stored with the hostname.
async fn note(app: &Application, hostname: &Hostname, outcome: Outcome) {
    match outcome {
        Outcome::Issued | Outcome::Underway | Outcome::Asked => {
            app.health.works(Part::Certificates, app.clock.now());
        }
        Outcome::Waiting | Outcome::Failed => {
            let stored = app.store.certificate(hostname).await.ok().flatten();
            let failure = stored.and_then(|stored| stored.plan.failure);
            let Some(CertificateFailure { reason, message }) = failure else { return };
            let now = app.clock.now();
            let message = message.map(|message| format!(": {message}")).unwrap_or_default();
            let text = format!("{hostname}: {}{message}", reason.as_str());
            match reason {
                CertificateFailureReason::RateLimited => {
                    app.health.fails_with(Part::Certificates, now, &text);
                }
                // The call that got no answer was noted with its cause, which the stored message leaves out.
                CertificateFailureReason::AuthorityUnavailable => {
                    app.health.still_fails(Part::Certificates, now, &text);
                }
                // What only concerns this hostname says nothing about the node.
                _ => {}
            }
        }
        Outcome::Interrupted | Outcome::NotWanted | Outcome::Overtaken => {}
    }
}

#[async_trait]
impl Job for ObtainCertificates {
    fn name(&self) -> &'static str {
        "obtain-certificates"
    }

    fn done_by(&self) -> DoneBy {
        DoneBy::EveryNode
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        match &self.app.issuance {
            Some(issuance) => self.step_with(issuance).await,
            None => Ok(Progress::Done),
        }
    }
}

/// Gives rows to hostnames that want a certificate and have none, and forgets expired challenges and old events of orders.
///
/// A domain that is proven gets its row at once, without this job. It is for the domains from before the program obtained
/// certificates, and for the installation's own names.
pub struct KeepCertificates {
    app: Arc<Application>,
}

impl KeepCertificates {
    /// The job for this application.
    #[must_use]
    pub const fn new(app: Arc<Application>) -> Self {
        Self { app }
    }
}

#[async_trait]
impl Job for KeepCertificates {
    fn name(&self) -> &'static str {
        "keep-certificates"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(30)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        let Some(issuance) = &self.app.issuance else { return Ok(Progress::Done) };
        let is_more_wanted = want_missing(&self.app, issuance).await?;
        let is_more_old = self.app.store.forget_order_events(self.app.clock.now(), FORGOTTEN_AT_ONCE).await?;
        Ok(if is_more_wanted || is_more_old { Progress::More } else { Progress::Done })
    }
}
