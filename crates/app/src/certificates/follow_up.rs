//! Putting a certificate into service, and removing one that is no longer wanted.

use signpost_domain::{CustomDomainStatus, DomainEvent, ask_window_again_at};

use super::attempt::{Attempt, Outcome};
use crate::app_error::AppError;
use crate::domains::{LinksLeft, checks_after, lose_links_before_service};
use crate::ports::{ServedCertificate, UpdateCustomDomainError, WorkPlan};
use crate::unit_of_work::{Attempts, commit};

impl Attempt<'_> {
    /// Stores a certificate, and with it puts a domain that was waiting for it into service: both in one unit of work (D187).
    ///
    /// A domain on which very many links of other accounts are left stays `ssl_pending` for now. Its next check removes them
    /// and finds the certificate.
    pub(super) async fn put_into_service(&self, served: &ServedCertificate) -> Result<Outcome, AppError> {
        let Self { app, certificate, claim, .. } = self;
        let hostname = &certificate.hostname;
        let attempts = Attempts::at(app);
        let outcome = attempts
            .run(|| async {
                let mut work = attempts.begin().await?;
                let now = app.clock.now();
                let plan = WorkPlan {
                    next_attempt_at: Some(served.renew_at.min(ask_window_again_at(now, None))),
                    last_attempt_at: Some(now),
                    failures: 0,
                    failure: None,
                    method: certificate.plan.method,
                };
                if let Some(account) = certificate.account {
                    // Before the certificate, so that every unit of work locks in this order.
                    let own = work.lock_claims(account, hostname).await?.own.map(|own| own.domain);
                    let Some(before) = own.filter(|own| own.at(now).status.may_have_certificate()) else {
                        return Ok::<_, AppError>(Outcome::NotWanted);
                    };
                    if !work.write_certificate(claim, served, &plan).await? {
                        return Ok(Outcome::Overtaken);
                    }
                    let after = before.after(DomainEvent::CertificateReady, now);
                    let left = lose_links_before_service(work.as_mut(), &before, &after, now).await?;
                    if after.status != before.status && left == LinksLeft::None {
                        match work.update_custom_domain(&after, checks_after(app, &after, now)?).await {
                            Ok(()) => {}
                            // Only a failed domain can meet a taken hostname.
                            Err(UpdateCustomDomainError::HostnameTaken) => return Ok(Outcome::NotWanted),
                            Err(UpdateCustomDomainError::Store(error)) => return Err(error.into()),
                        }
                    }
                } else if !work.write_certificate(claim, served, &plan).await? {
                    return Ok(Outcome::Overtaken);
                }
                commit(app, work).await?;
                Ok(Outcome::Issued)
            })
            .await?;
        if outcome == Outcome::Issued {
            let (issuer, not_after) = (&served.issuer, served.validity.not_after);
            tracing::info!(%hostname, issuer, %not_after, "a certificate was issued");
        }
        Ok(outcome)
    }

    /// Removes what is stored about a hostname that no account has proven any longer.
    pub(super) async fn remove(&self) -> Result<Outcome, AppError> {
        let Self { app, certificate, .. } = self;
        let attempts = Attempts::at(app);
        attempts
            .run(|| async {
                let mut work = attempts.begin().await?;
                if let Some(account) = certificate.account {
                    let own =
                        work.lock_claims(account, &certificate.hostname).await?.own.map(|own| own.domain);
                    let is_wanted = own.is_some_and(|own| {
                        let status: CustomDomainStatus = own.at(app.clock.now()).status;
                        status.may_have_certificate()
                    });
                    if is_wanted {
                        return Ok(Outcome::Overtaken);
                    }
                }
                work.delete_certificate(&certificate.hostname).await?;
                commit(app, work).await?;
                Ok(Outcome::NotWanted)
            })
            .await
    }
}
