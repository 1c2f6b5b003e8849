//! Whether a certificate may be ordered for a hostname now (D189).

use signpost_domain::{
    AuthorityMessage, CaaIssuer, CertificateFailure, CertificateFailureReason, CustomDomainStatus, Hostname,
};

use super::caa::{CaaRefusal, CaaUnanswered, caa_refusal};
use crate::application::Application;
use crate::domains;
use crate::ports::{DnsUnavailable, StoreError, StoredCertificate};

/// What the look-ups before an order say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Permission {
    /// An order may succeed.
    Granted(Urgency),
    /// No account has proven the hostname any longer, so it gets no certificate.
    NotHeld,
    /// The authority would refuse, or fail to validate.
    Refused(CertificateFailure),
    /// Name servers did not answer. That is no "no".
    Unanswered(CertificateFailure),
}

/// What waits for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// A domain that is not in service before, or a name of the installation.
    Awaited,
    /// A domain that is in service.
    InUse,
}

/// Asks DNS whether an order for the certificate's hostname may succeed: a custom domain must still be proven and lead here, and
/// `CAA` records must allow the authority. The installation's own names need only the second, because the operator may use names
/// that lead here on ways that DNS does not show.
pub(super) async fn permission(
    app: &Application,
    certificate: &StoredCertificate,
    issuer_domains: &[String],
    account_uri: &str,
) -> Result<Permission, StoreError> {
    let StoredCertificate { hostname, account, plan, .. } = certificate;
    let method = plan.method.as_str();
    let mut urgency = Urgency::Awaited;
    if let Some(account) = account {
        let held = app.store.holder_of(hostname).await?.filter(|domain| domain.account_id == *account);
        let Some(domain) = held.filter(|domain| domain.at(app.clock.now()).status.may_have_certificate())
        else {
            return Ok(Permission::NotHeld);
        };
        if matches!(domain.status, CustomDomainStatus::Active { .. }) {
            urgency = Urgency::InUse;
        }
        match domains::leads_here(app, &domain).await {
            Ok(true) => {}
            Ok(false) => {
                let text = "The hostname does not lead to this installation, or not all of its addresses do.";
                return Ok(refused(CertificateFailureReason::PointsElsewhere, text));
            }
            Err(error) => return Ok(unanswered(hostname, &error)),
        }
    }
    let issuer = CaaIssuer { domains: issuer_domains, account_uri, method };
    match caa_refusal(&*app.dns, &*app.clock, hostname, &issuer).await {
        Ok(None) => Ok(Permission::Granted(urgency)),
        Ok(Some(refusal)) => {
            let text = match refusal {
                CaaRefusal::Forbidden { problem, record: Some(record) } => format!("{problem} Add: {record}"),
                CaaRefusal::Forbidden { problem, record: None } | CaaRefusal::OtherTerms { problem } => {
                    problem
                }
            };
            Ok(refused(CertificateFailureReason::CaaForbids, &text))
        }
        Err(CaaUnanswered::TooSlow) => {
            let text = "The name servers of the hostname answer too slowly.";
            Ok(Permission::Unanswered(CertificateFailure::new(CertificateFailureReason::DnsFailed, text)))
        }
        Err(CaaUnanswered::Dns(error)) => Ok(unanswered(hostname, &error)),
    }
}

fn refused(reason: CertificateFailureReason, text: &str) -> Permission {
    Permission::Refused(CertificateFailure { reason, message: AuthorityMessage::new(text) })
}

fn unanswered(hostname: &Hostname, error: &DnsUnavailable) -> Permission {
    tracing::info!(%hostname, %error, "DNS gave no answer before an order");
    let text = "The name servers of the hostname gave no answer.";
    Permission::Unanswered(CertificateFailure::new(CertificateFailureReason::DnsFailed, text))
}
