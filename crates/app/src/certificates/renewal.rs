//! When to renew a certificate (D191).

use std::time::Duration;

use signpost_domain::{RenewalWindow, Timestamp, ask_window_again_at};

use super::attempt::{Attempt, Outcome};
use super::spread;
use crate::app_error::AppError;
use crate::ports::{AuthorityError, KeepOrder, RenewalAdvice, ServedCertificate, WaitScope, WorkPlan};

/// How long to wait if the authority did not answer when to renew.
const UNANSWERED_PAUSE: Duration = Duration::from_hours(1);

impl Attempt<'_> {
    /// Asks the authority when it wants the certificate renewed, and plans the next action.
    pub(super) async fn ask_when_to_renew(&self, served: &ServedCertificate) -> Result<Outcome, AppError> {
        let Self { app, issuance, claim, .. } = self;
        let directory = &issuance.directory;
        let wait = app.store.authority_wait(directory).await?.filter(|until| *until > app.clock.now());
        let advice = match (&served.renewal_id, wait) {
            (None, _) => Ok(None),
            (Some(_), Some(until)) => Err(Some(until)),
            (Some(id), None) => match issuance.authority.renewal_window(id).await {
                Ok(advice) => Ok(advice),
                Err(error) => Err(self.unanswered(error).await?),
            },
        };
        let now = app.clock.now();
        let [high, low] = spread(app)?;
        let fraction = u16::from_be_bytes([high, low]);
        let (renew_at, ask_again_at) = match advice {
            Ok(Some(RenewalAdvice { window, ask_again_at })) => {
                (renewal_in(window, served, fraction, now), ask_window_again_at(now, ask_again_at))
            }
            // Without an opinion of the authority, the backstop counts.
            Ok(None) => (served.validity.renew_at(None, fraction, now), ask_window_again_at(now, None)),
            Err(until) => (served.renew_at, until.unwrap_or_else(|| now.plus(UNANSWERED_PAUSE))),
        };
        let next_attempt_at = Some(renew_at.min(ask_again_at));
        let plan = WorkPlan { next_attempt_at, ..self.plan() };
        let is_held = app.store.conclude_certificate(claim, &plan, Some(renew_at), KeepOrder::No).await?;
        Ok(if is_held { Outcome::Asked } else { Outcome::Overtaken })
    }

    /// Notes that the authority did not say when to renew. Returns when it wants to be asked again; `None` if it did not say.
    async fn unanswered(&self, error: AuthorityError) -> Result<Option<Timestamp>, AppError> {
        let Self { app, issuance, claim, .. } = self;
        tracing::info!(hostname = %claim.hostname, %error, "the authority did not say when to renew a certificate");
        let AuthorityError::Wait { until, scope, failure: _ } = error else { return Ok(None) };
        if scope == WaitScope::Everything {
            app.store.set_authority_wait(&issuance.directory, until).await?;
        }
        Ok(Some(until))
    }
}

/// The instant of the renewal within a window. The one that was chosen stays if it lies within, so that asking again and again
/// does not move it to the beginning.
fn renewal_in(window: RenewalWindow, served: &ServedCertificate, fraction: u16, now: Timestamp) -> Timestamp {
    let chosen = served.renew_at;
    if window.start() <= chosen && chosen <= window.end() && chosen <= served.validity.backstop() {
        return chosen;
    }
    served.validity.renew_at(Some(window), fraction, now)
}
